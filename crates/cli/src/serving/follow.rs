//! What is served follows the names that were given, and the server follows signals.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serve::Order;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::mpsc;

use super::source::{Source, Version};
use crate::failure::Failure;
use crate::output;

/// How often files are looked at.
const LOOK: Duration = Duration::from_secs(2);

/// Orders for a server: what it is to serve next, and when to end.
pub(super) fn start(source: Source, version: Version) -> Result<mpsc::Receiver<Order>, Failure> {
    let (orders, told) = mpsc::channel(4);
    let (again, reload) = channel();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let ends = orders.clone();
    thread::spawn(move || {
        let mut ended = false;
        for signal in signals.forever() {
            match signal {
                SIGHUP => drop(again.send(())),
                // Who asks twice does not want to wait.
                _ if ended => std::process::exit(130),
                _ => {
                    ended = true;
                    output::talk("ending when all that was asked is answered");
                    drop(ends.blocking_send(Order::End));
                }
            }
        }
    });
    thread::spawn(move || follow(&source, version, &reload, &orders));
    Ok(told)
}

fn follow(
    source: &Source,
    mut known: Version,
    reload: &Receiver<()>,
    orders: &mpsc::Sender<Order>,
) {
    loop {
        let asked = match reload.recv_timeout(LOOK) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let found = source.version();
        // A file that is gone for a moment is being replaced.
        if !asked && (found == known || found.is_empty()) {
            continue;
        }
        known = found;
        match source.load() {
            Ok(served) => {
                let line = format!("now serving {}", served.about().summary);
                if orders.blocking_send(Order::Swap(Box::new(served))).is_err() {
                    return;
                }
                output::talk(&line);
            }
            Err(failure) => {
                output::talk("what is there now cannot be served; the model before it stays");
                failure.tell();
            }
        }
    }
}
