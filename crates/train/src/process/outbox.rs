//! What a process has to say to its driver: in order, and kept until it was heard. Only
//! progress is bounded: it alone may be left untold.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::event::Kind;
use crate::message::ToDriver;

/// How much may wait. Beyond it, progress is no longer told; all else still is.
const MANY: usize = 4096;

/// Filled by the one that works, emptied by the line.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Held for a moment only, never while waiting.
    queue: Mutex<Queue>,
    bell: Notify,
    numbers: AtomicU64,
}

#[derive(Default)]
struct Queue {
    unsaid: VecDeque<ToDriver>,
    unheard: VecDeque<(u64, Kind)>,
}

impl Outbox {
    /// Tells of an event.
    pub(crate) fn say(&self, event: Kind) {
        let passing = matches!(event, Kind::Progress(_));
        if passing && self.queue().unsaid.len() > MANY {
            return;
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        if !passing {
            self.queue().unheard.push_back((number, event.clone()));
        }
        self.send(ToDriver::Said { number, event: Box::new(event) });
    }

    /// Says something that is of no use later.
    pub(crate) fn send(&self, words: ToDriver) {
        self.queue().unsaid.push_back(words);
        self.bell.notify_one();
    }

    /// The next thing to say.
    pub(crate) async fn next(&self) -> ToDriver {
        loop {
            if let Some(words) = self.queue().unsaid.pop_front() {
                return words;
            }
            self.bell.notified().await;
        }
    }

    /// Forgets what was heard.
    pub(crate) fn heard(&self, up_to: u64) {
        self.queue().unheard.retain(|(number, _)| *number > up_to);
    }

    /// Begins again on a new connection: events that were not heard are said again, and answers to
    /// a driver that is gone are not.
    pub(crate) fn begin_again(&self) {
        let mut queue = self.queue();
        queue
            .unsaid
            .retain(|words| matches!(words, ToDriver::Farewell(_) | ToDriver::Finished { .. }));
        let unheard: Vec<ToDriver> = queue
            .unheard
            .iter()
            .map(|(number, event)| ToDriver::Said {
                number: *number,
                event: Box::new(event.clone()),
            })
            .collect();
        unheard.into_iter().rev().for_each(|words| queue.unsaid.push_front(words));
    }

    fn queue(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
