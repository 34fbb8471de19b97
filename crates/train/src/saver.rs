//! Writes checkpoints on a thread of its own, so that the step loop does not wait for the disk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::Error;
use crate::checkpoint::{Checkpoints, Snapshot};

/// Hands snapshots to the writing thread. At most one is being written and one waits.
pub struct Saver {
    whole: Checkpoints,
    writer: Writer,
    written: Receiver<Outcome>,
    /// Snapshots that were handed over and not yet told of.
    underway: usize,
}

/// The step of a checkpoint that was written, if it is to be told.
type Outcome = Result<Option<u64>, Error>;

/// Who writes.
enum Writer {
    /// A thread, until it is to end.
    Thread(Option<SyncSender<Order>>, Option<JoinHandle<()>>),
    /// The caller itself.
    Caller(SyncSender<Outcome>),
}

struct Order {
    place: Checkpoints,
    snapshot: Snapshot,
    /// Whether to tell of it.
    tell: bool,
}

impl Saver {
    /// Starts the thread. `whole` is where what all ranks share goes.
    pub fn new(whole: Checkpoints) -> Self {
        let (orders, inbox) = sync_channel::<Order>(1);
        let (outbox, written) = sync_channel(1024);
        let thread = std::thread::spawn(move || {
            for order in inbox {
                if outbox.send(order.carry_out()).is_err() {
                    return;
                }
            }
        });
        Saver { whole, writer: Writer::Thread(Some(orders), Some(thread)), written, underway: 0 }
    }

    /// One that writes while it is called, for simulations: when another thread is done cannot be told in
    /// their time.
    pub(crate) fn at_once(whole: Checkpoints) -> Self {
        let (outbox, written) = sync_channel(1024);
        Saver { whole, writer: Writer::Caller(outbox), written, underway: 0 }
    }

    /// Has a snapshot of what all ranks share written soon. Waits only when two others are on their
    /// way.
    pub fn save(&mut self, snapshot: Snapshot) {
        self.order(Order { place: self.whole.clone(), snapshot, tell: true });
    }

    /// The same for what one rank has done by itself, in a place of its own.
    pub(crate) fn save_to(&mut self, place: Checkpoints, snapshot: Snapshot) {
        self.order(Order { place, snapshot, tell: false });
    }

    fn order(&mut self, order: Order) {
        let taken = match &self.writer {
            // A thread that is gone has left its error in `written`.
            Writer::Thread(orders, _) => orders.as_ref().is_some_and(|o| o.send(order).is_ok()),
            Writer::Caller(outbox) => outbox.try_send(order.carry_out()).is_ok(),
        };
        self.underway += usize::from(taken);
    }

    /// The steps of checkpoints that have become whole since the last call.
    pub fn written(&mut self) -> Result<Vec<u64>, Error> {
        let steps: Vec<_> = self.written.try_iter().collect();
        self.tell(steps)
    }

    /// Waits until everything is written, and tells what was written since the last call.
    pub fn flush(&mut self) -> Result<Vec<u64>, Error> {
        let steps: Vec<_> = self.written.iter().take(self.underway).collect();
        self.tell(steps)
    }

    fn tell(&mut self, steps: Vec<Outcome>) -> Result<Vec<u64>, Error> {
        self.underway -= steps.len();
        let steps: Vec<Option<u64>> = steps.into_iter().collect::<Result<_, _>>()?;
        Ok(steps.into_iter().flatten().collect())
    }
}

impl Order {
    fn carry_out(self) -> Outcome {
        let step = self.tell.then_some(self.snapshot.position.step);
        self.place.save(&self.snapshot).map(|()| step)
    }
}

impl Drop for Saver {
    /// A checkpoint that is being written is finished.
    fn drop(&mut self) {
        if let Writer::Thread(orders, thread) = &mut self.writer {
            *orders = None;
            let _ = thread.take().map(JoinHandle::join);
        }
    }
}
