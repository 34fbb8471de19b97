//! The processes that sum, as seen by the one that started them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use collective::{Contact, Secret};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Task;
use super::rank::Found;

/// How long processes may take for everything.
const PATIENCE: Duration = Duration::from_secs(600);

/// What a process said: a line, or nothing because it has ended.
type Said = (usize, Option<String>);

/// The processes. Dropped, they end.
struct Ranks {
    processes: Vec<(Child, ChildStdin)>,
    said: Receiver<Said>,
}

/// Starts the processes and has them sum. What the first of them found.
pub(super) fn measure(task: &Task) -> Result<Found> {
    let mut ranks = Ranks::start(task)?;
    ranks.tell(&Secret::random().to_hex())?;
    let contacts: Vec<Contact> = ranks.hear()?;
    ranks.tell(&contacts)?;
    let found: Vec<Found> = ranks.hear()?;
    found.into_iter().next().context("there are no processes")
}

impl Ranks {
    fn start(task: &Task) -> Result<Ranks> {
        let (sender, said) = channel();
        let mut ranks = Ranks { processes: vec![], said };
        for rank in 0..task.ranks {
            let mut child = command(task, rank).spawn().context("cannot start a process")?;
            let (to, from) = (child.stdin.take(), child.stdout.take());
            let (Some(to), Some(from)) = (to, from) else { unreachable!("both are pipes") };
            ranks.processes.push((child, to));
            let sender = sender.clone();
            std::thread::spawn(move || listen(rank, from, &sender));
        }
        Ok(ranks)
    }

    /// Says something to all.
    fn tell(&mut self, words: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(words)?;
        for (_, to) in &mut self.processes {
            // One that is gone is found by what it does not say.
            let _ = writeln!(to, "{line}");
        }
        Ok(())
    }

    /// A line of each, by rank.
    fn hear<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let mut lines: Vec<Option<T>> = self.processes.iter().map(|_| None).collect();
        while lines.iter().any(Option::is_none) {
            let (rank, line) = self.said.recv_timeout(PATIENCE).map_err(|_| {
                anyhow!(
                    "the processes have not come to an end in {PATIENCE:?}; try a smaller --size"
                )
            })?;
            match line {
                Some(line) => lines[rank] = Some(serde_json::from_str(&line)?),
                // It has said all it had to say.
                None if lines[rank].is_some() => {}
                None => return Err(anyhow!("the process of rank {rank} ended too soon")),
            }
        }
        Ok(lines.into_iter().flatten().collect())
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for (child, _) in &mut self.processes {
            // It may have ended already, which is as well.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn command(task: &Task, rank: usize) -> Command {
    let size = task.len * size_of::<f32>();
    // This very program, even if its file is replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command
        .args(["bench", "all-reduce", "--link", task.link.name()])
        .args(["--size", &size.to_string(), "--ranks", &task.ranks.to_string()])
        .args(task.tls.then_some("--tls"))
        .args(["--rank", &rank.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn listen(rank: usize, from: ChildStdout, sender: &Sender<Said>) {
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        if sender.send((rank, Some(line))).is_err() {
            return;
        }
    }
    let _ = sender.send((rank, None));
}
