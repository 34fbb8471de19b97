//! Writes checkpoints on a thread of its own, so that the step loop does not wait for the disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::Error;
use crate::checkpoint::{Checkpoints, Snapshot};

/// Hands snapshots to the writing thread. At most one is being written and one waits.
pub struct Saver {
    orders: Option<SyncSender<Snapshot>>,
    written: Receiver<Result<u64, Error>>,
    thread: Option<JoinHandle<()>>,
}

impl Saver {
    /// Starts the thread.
    pub fn new(checkpoints: Checkpoints) -> Self {
        let (orders, inbox) = sync_channel::<Snapshot>(1);
        let (outbox, written) = sync_channel(16);
        let thread = std::thread::spawn(move || {
            for snapshot in inbox {
                let result = checkpoints.save(&snapshot).map(|()| snapshot.position.step);
                if outbox.send(result).is_err() {
                    return;
                }
            }
        });
        Saver { orders: Some(orders), written, thread: Some(thread) }
    }

    /// Has a snapshot written soon. Waits only when two others are on their way.
    pub fn save(&mut self, snapshot: Snapshot) {
        if let Some(orders) = &self.orders {
            // A thread that is gone has left its error in `written`.
            let _ = orders.send(snapshot);
        }
    }

    /// The steps of checkpoints that have become whole since the last call.
    pub fn written(&mut self) -> Result<Vec<u64>, Error> {
        self.written.try_iter().collect()
    }

    /// Waits until everything is written.
    pub fn finish(mut self) -> Result<Vec<u64>, Error> {
        self.orders = None;
        let steps = self.written.iter().collect();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        steps
    }
}
