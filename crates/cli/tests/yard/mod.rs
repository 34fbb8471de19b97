//! A folder to run the real binary in.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::print_stderr,
    reason = "each test file uses a part of it"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// An empty folder with its own runs and its own cache.
pub struct Yard {
    folder: tempfile::TempDir,
}

/// A process in the background, ended with the test.
pub struct Running(Child);

impl std::ops::Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A small job that takes well under a second: the MLP on the built-in sample.
pub const SMALL: &str = "\
name: small
data: { from: mnist-sample, validation: 1000 }
model: mnist-mlp
train: { epochs: 2, batch: 50, threads: 1 }
";

impl Yard {
    pub fn new() -> Self {
        Yard { folder: tempfile::tempdir().expect("a temporary folder can be made") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&path, content).expect("the file can be written");
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trainyard"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("TRAINYARD_CACHE", self.path("cache"))
            .env("TRAINYARD_OFFLINE", "1")
            .env_remove("TRAINYARD_RUNS")
            .env_remove("TRAINYARD_ISA")
            .stdin(Stdio::null());
        command
    }

    pub fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary starts")
    }

    /// Runs to success and gives standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{args:?} failed: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs to success and gives the one JSON document on standard output.
    pub fn json(&self, args: &[&str]) -> Value {
        let text = self.ok(args);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }

    /// Runs to failure with a code and gives standard error.
    pub fn fails(&self, code: i32, args: &[&str]) -> String {
        let output = self.output(args);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert!(output.stdout.is_empty(), "{args:?} printed data although it failed");
        error
    }

    /// Starts in the background, quietly.
    pub fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("the binary starts"))
    }

    /// Starts in the background, and tells what it says.
    pub fn listen(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        Running(command.spawn().expect("the binary starts"))
    }

    /// Starts a server at a free port, and says at which address.
    pub fn serve(&self, model: &str) -> (Running, String) {
        let mut child = self.listen(&["serve", model, "--port", "0"]);
        let lines = BufReader::new(child.stderr.take().expect("it is a pipe")).lines();
        let address = lines.map_while(Result::ok).find_map(|line| {
            Some(line.split_once(" at http://")?.1.trim_end_matches('/').to_owned())
        });
        (child, address.expect("it says where it serves"))
    }

    /// The run that was made last, if any.
    pub fn newest_run(&self) -> Option<String> {
        let runs = self.json(&["ls", "--json"]);
        Some(runs.as_array()?.last()?["run"].as_str()?.to_owned())
    }

    /// Every event of a run so far.
    pub fn events(&self, run: &str) -> Vec<Value> {
        let path = self.path("runs").join(run).join("events.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().map(|line| serde_json::from_str(line).expect("an event is JSON")).collect()
    }

    /// The events of one kind.
    pub fn events_of(&self, run: &str, kind: &str) -> Vec<Value> {
        self.events(run).into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// Waits, patiently, until something is so.
    pub fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        for _ in 0..6000 {
            if so() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("it never happened that {what}");
    }
}

/// Sends a signal, such as `-KILL`, to a process.
pub fn signal(pid: u32, signal: &str) {
    let done = Command::new("kill").args([signal, &pid.to_string()]).output();
    assert!(done.is_ok(), "the machine has no `kill`");
}

/// A folder of real datasets beside the checkout, if it is there.
pub fn shared_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
    }
    path.exists().then_some(path)
}
