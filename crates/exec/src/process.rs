//! A task as a process of this machine.
//!
//! The process is told its orders as one line of JSON on standard input, which then stays open: its
//! end means that the driver is gone. It says what happens as lines of JSON on standard output.
//! Standard error is its log. It runs in a process group of its own, so that Ctrl-C reaches the
//! driver alone, which then stops it in order.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use store::RunDir;
use train::{Kind, Orders};

use crate::ExecError;

/// The longest line a task may say.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// How the processes of tasks are started: this program and the arguments that make it a task.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The binary.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// A task's process.
pub(crate) struct Process {
    child: Child,
    /// Held open as long as the driver lives.
    _orders: ChildStdin,
    /// What it last said about its own end, if it did.
    pub(crate) farewell: Option<Kind>,
}

/// What comes from the processes.
pub(crate) enum Message {
    /// A task says something.
    Said(String, Kind),
    /// A task says something that is not an event: it is not one of ours, or not of this version.
    Garbled(String, String),
    /// A task's standard output ended.
    Silent(String),
}

impl Launcher {
    /// Starts a process. What it says arrives at `messages` under the task's name.
    pub(crate) fn start(
        &self,
        orders: &Orders,
        run: &RunDir,
        messages: SyncSender<Message>,
    ) -> Result<Process, ExecError> {
        let task = orders.task.id.clone();
        let path = run.log(&task, orders.process as usize);
        let in_log = |error| ExecError::Log { path: path.clone(), error };
        std::fs::create_dir_all(run.logs()).map_err(in_log)?;
        let log = OpenOptions::new().append(true).create(true).open(&path).map_err(in_log)?;
        let in_start =
            |error| ExecError::Start { task: task.clone(), program: self.program.clone(), error };
        let mut child = Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(in_start)?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for as pipes")
        };
        let mut line = serde_json::to_string(orders).expect("orders are plain data");
        line.push('\n');
        // A process that died already is found by the reader below.
        let _ = stdin.write_all(line.as_bytes());
        std::thread::spawn(move || listen(&task, stdout, &messages));
        Ok(Process { child, _orders: stdin, farewell: None })
    }
}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the process to save and leave.
    pub(crate) fn ask_to_stop(&self) {
        ask_to_stop(self.pid());
    }

    /// Ends the process, and whatever it may have started, at once.
    pub(crate) fn kill(&self) {
        if let Some(group) = as_pid(self.pid()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Waits for a process whose output has ended.
    pub(crate) fn wait(mut self) -> String {
        // Whatever closes its output without ending is not one of ours.
        self.kill_unless_ended();
        self.child.wait().map_or_else(|error| error.to_string(), |status| ending(&status))
    }

    fn kill_unless_ended(&mut self) {
        for _ in 0..100 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        self.kill();
    }
}

/// Asks a process of ours, a driver or a task, to save and leave.
pub fn ask_to_stop(pid: u32) {
    if let Some(pid) = as_pid(pid) {
        // It may have ended in this moment, and that is what is wanted.
        let _ = kill_process(pid, Signal::TERM);
    }
}

fn as_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

fn listen(task: &str, stdout: impl Read, messages: &SyncSender<Message>) {
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line) {
            Ok(0) | Err(_) => break,
            // Cut off by the process's death.
            Ok(length) if !line.ends_with('\n') && (length as u64) < MAX_LINE_BYTES => break,
            Ok(_) => {}
        }
        let message = match serde_json::from_str(&line) {
            Ok(kind) => Message::Said(task.to_owned(), kind),
            Err(_) => Message::Garbled(task.to_owned(), line.trim_end().to_owned()),
        };
        if messages.send(message).is_err() {
            return;
        }
    }
    let _ = messages.send(Message::Silent(task.to_owned()));
}

/// How a process ended, as part of a sentence.
fn ending(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("its process ended with code {code}"),
        (None, Some(9)) => "its process was killed (signal 9; out of memory?)".into(),
        (None, Some(signal)) => format!("its process was killed by signal {signal}"),
        (None, None) => "its process ended".into(),
    }
}
