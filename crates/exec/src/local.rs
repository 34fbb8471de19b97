//! Processes of this machine.
//!
//! A process is this very program, told where the run's `join.json` lies and which number it has; all
//! else it learns from the driver. What it prints is its log. It runs in a process group of its own,
//! so that Ctrl-C reaches the driver alone, which then stops it in order; and it outlives a driver
//! that is killed, so that the next one can take it over.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use plan::Task;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use store::{Alive, RunDir};

use crate::ExecError;
use crate::launch::{Launcher, Started};

/// Starts processes on this machine.
pub struct Local {
    program: PathBuf,
    arguments: Vec<String>,
    run: RunDir,
    processes: BTreeMap<u32, Process>,
}

enum Process {
    Ours(Child),
    /// Started by an earlier driver; the system tells only whether it lives.
    Adopted(Alive),
}

impl Local {
    /// Processes of a run: `program` with some arguments, then `--join FILE --process N`.
    pub fn new(program: PathBuf, arguments: Vec<String>, run: RunDir) -> Self {
        Local { program, arguments, run, processes: BTreeMap::new() }
    }
}

impl Launcher for Local {
    fn start(&mut self, task: &Task, process: u32, _: bool) -> Result<Started, ExecError> {
        let path = self.run.log(&task.id, process as usize);
        let in_log = |error| ExecError::Log { path: path.clone(), error };
        std::fs::create_dir_all(self.run.logs()).map_err(in_log)?;
        let log = OpenOptions::new().append(true).create(true).open(&path).map_err(in_log)?;
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .arg("--join")
            .arg(self.run.join())
            .args(["--process", &process.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(|error| ExecError::Start {
                task: task.id.clone(),
                program: self.program.clone(),
                error,
            })?;
        let alive = Alive::of(child.id());
        self.processes.insert(process, Process::Ours(child));
        Ok(Started { pid: alive.pid, ticks: alive.ticks, place: None })
    }

    fn adopt(&mut self, _: &Task, process: u32, started: &Started) -> bool {
        let alive = Alive { pid: started.pid, ticks: started.ticks };
        // Without its start's time it is one that came by itself, maybe from another machine; whatever has
        // its number here may be anything.
        let lives = started.ticks.is_some() && alive.lives();
        if lives {
            self.processes.insert(process, Process::Adopted(alive));
        }
        lives
    }

    fn kill(&mut self, process: u32) {
        match self.processes.get(&process) {
            Some(Process::Ours(child)) => kill(child.id()),
            Some(Process::Adopted(alive)) if alive.lives() => kill(alive.pid),
            _ => {}
        }
    }

    fn ended(&mut self) -> Vec<(u32, String)> {
        let mut ended = vec![];
        self.processes.retain(|&number, process| {
            let how = match process {
                Process::Ours(child) => match child.try_wait() {
                    Ok(None) => return true,
                    Ok(Some(status)) => describe(&status),
                    Err(error) => error.to_string(),
                },
                Process::Adopted(alive) if alive.lives() => return true,
                Process::Adopted(_) => "ended".into(),
            };
            ended.push((number, how));
            false
        });
        ended
    }
}

/// Asks a driver to stop its run: all save and leave. (In a cluster, where pods come and go, a driver
/// that is merely ended does not stop it.)
pub fn ask_to_stop(pid: u32) {
    if let Some(pid) = as_pid(pid) {
        // It may have ended in this moment, and that is what is wanted.
        let _ = kill_process(pid, Signal::USR1);
    }
}

fn kill(pid: u32) {
    if let Some(group) = as_pid(pid) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn as_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// How a process ended, as part of a sentence.
fn describe(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(9)) => "was killed (signal 9; out of memory?)".into(),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}
