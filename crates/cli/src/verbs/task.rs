//! `trainyard task`: what the processes of a run are. Not for people.
//!
//! Orders come as one line of JSON on standard input, which stays open as long as the driver lives.
//! Events go to standard output, the log to standard error. See `exec::process` for the other end.

use std::io::{BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use plan::Role;
use signal_hook::consts::SIGTERM;
use train::{Clock, Context, Kind, Orders, Performed};

use crate::failure::Failure;
use crate::machine::peak_rss_bytes;
use crate::output;

/// Carry out one task of a run; the driver starts these
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn act() -> Result<(), Failure> {
    let clock = Clock::system();
    let mut line = String::new();
    let mut stdin = std::io::stdin().lock();
    stdin.read_line(&mut line).context("cannot read the orders")?;
    drop(stdin);
    let orders: Orders = serde_json::from_str(&line)
        .context("a task is started by a driver, which gives it its orders")?;

    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGTERM, stop.clone())?;
    watch_the_driver(stop.clone());
    // Only training is worth saving half-way; all else is made anew, and leaves at once.
    if !matches!(orders.task.role, Role::Worker { .. }) {
        leave_when_asked(stop.clone());
    }
    let mut emit = |kind: Kind| say(&clock, &kind, &stop);
    let context = Context { clock: &clock, stop: &stop, voice: &mut emit };
    let performed = train::perform(&orders, context);
    match performed {
        Ok(Performed::Done) => {
            let seconds = clock.elapsed().as_secs_f64();
            emit(Kind::TaskDone { seconds, peak_rss_bytes: peak_rss_bytes() });
            Ok(())
        }
        Ok(Performed::Stopped) => {
            emit(Kind::TaskStopped { saved: true });
            Ok(())
        }
        Err(error) => {
            emit(Kind::TaskFailed { reason: error.to_string() });
            Err(Failure::Failed(error.into()))
        }
    }
}

/// Tells the driver, and writes the same to the log for people.
fn say(clock: &Clock, kind: &Kind, stop: &AtomicBool) {
    let mut line = serde_json::to_string(kind).expect("an event is plain data");
    line.push('\n');
    let mut out = std::io::stdout().lock();
    if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
        // Nobody listens: the driver is gone.
        stop.store(true, Ordering::SeqCst);
    }
    if let Some(text) = train::describe_kind(kind) {
        output::talk(&format!("{} {text}", crate::view::time(clock.unix_ms())));
    }
}

/// Asks the task to leave when standard input ends, which it does with the driver.
fn watch_the_driver(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while matches!(std::io::stdin().lock().read(&mut rest), Ok(1..)) {}
        stop.store(true, Ordering::SeqCst);
    });
}

fn leave_when_asked(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let line = serde_json::to_string(&Kind::TaskStopped { saved: true })
            .expect("an event is plain data");
        output::print(&line);
        std::process::exit(0);
    });
}
