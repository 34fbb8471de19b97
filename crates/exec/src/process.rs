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
use std::sync::mpsc::Sender;

use rustix::process::{Pid, Signal, kill_process};
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
    /// A task's standard output ended.
    Silent(String),
}

impl Launcher {
    /// Starts a process. What it says arrives at `messages` under the task's name.
    pub(crate) fn start(
        &self,
        orders: &Orders,
        run: &RunDir,
        messages: Sender<Message>,
    ) -> Result<Process, ExecError> {
        let task = orders.task.id.clone();
        let path = run.log(&task, orders.process as usize);
        let in_log = |error| ExecError::Log {
            path: path.clone(),
            error,
        };
        std::fs::create_dir_all(run.logs()).map_err(in_log)?;
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(in_log)?;
        let in_start = |error| ExecError::Start {
            task: task.clone(),
            program: self.program.clone(),
            error,
        };
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
        Ok(Process {
            child,
            _orders: stdin,
            farewell: None,
        })
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

    pub(crate) fn kill(&self) {
        signal(self.pid(), Signal::KILL);
    }

    /// Waits for a process whose output has ended.
    pub(crate) fn wait(mut self) -> String {
        // Whatever closes its output without ending is not one of ours.
        self.kill_unless_ended();
        self.child
            .wait()
            .map_or_else(|error| error.to_string(), |status| ending(&status))
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
    signal(pid, Signal::TERM);
}

fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may have ended in this moment, and that is what is wanted.
        let _ = kill_process(pid, signal);
    }
}

fn listen(task: &str, stdout: impl Read, messages: &Sender<Message>) {
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_LINE_BYTES).read_line(&mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        // Anything that is not an event is not for us.
        if let Ok(kind) = serde_json::from_str(&line)
            && messages.send(Message::Said(task.to_owned(), kind)).is_err()
        {
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
