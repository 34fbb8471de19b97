//! Those who came to a process' port and wait for their group to be formed there.
//!
//! Who comes says which generation it is for, which process it is, and which layout it means. It may
//! come before this process has heard of that generation, so it waits. When a generation is formed,
//! those of older ones are sent away.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::layout::Digest;

/// How many may wait. Far more than a group has; beyond it the oldest generations leave.
const ROOM: usize = 1024;

/// The first bytes on a connection of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Introduction {
    pub(crate) generation: u64,
    pub(crate) process: u32,
    pub(crate) layout: Digest,
}

pub(crate) struct Arrivals<T> {
    /// Never held while waiting.
    waiting: Mutex<Waiting<T>>,
    came: Notify,
}

struct Waiting<T> {
    /// Older generations are over.
    oldest: u64,
    guests: BTreeMap<(u64, u32), (Digest, T)>,
}

impl Introduction {
    pub(crate) const BYTES: usize = 44;

    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.generation.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.process.to_le_bytes());
        bytes[12..].copy_from_slice(&self.layout);
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; Self::BYTES]) -> Introduction {
        let (mut generation, mut process, mut layout) = ([0; 8], [0; 4], [0; 32]);
        generation.copy_from_slice(&bytes[..8]);
        process.copy_from_slice(&bytes[8..12]);
        layout.copy_from_slice(&bytes[12..]);
        let (generation, process) = (u64::from_le_bytes(generation), u32::from_le_bytes(process));
        Introduction { generation, process, layout }
    }
}

impl<T> Arrivals<T> {
    pub(crate) fn new() -> Arrivals<T> {
        let waiting = Waiting { oldest: 0, guests: BTreeMap::new() };
        Arrivals { waiting: Mutex::new(waiting), came: Notify::new() }
    }

    /// Takes one in, or says why not. One that comes again replaces its former self.
    pub(crate) fn add(&self, who: Introduction, guest: T) -> Result<(), String> {
        let mut waiting = self.lock();
        let Introduction { generation, process, layout } = who;
        if generation < waiting.oldest {
            return Err(format!(
                "process {process} came for generation {generation}, which is over: {} has begun",
                waiting.oldest
            ));
        }
        waiting.guests.insert((generation, process), (layout, guest));
        if waiting.guests.len() > ROOM {
            waiting.guests.pop_first();
        }
        drop(waiting);
        self.came.notify_waiters();
        Ok(())
    }

    /// Sends those away who came for an older generation.
    pub(crate) fn begin(&self, generation: u64) {
        let mut waiting = self.lock();
        let oldest = waiting.oldest.max(generation);
        waiting.oldest = oldest;
        let newer = waiting.guests.split_off(&(oldest, 0));
        let older = std::mem::replace(&mut waiting.guests, newer);
        drop(waiting);
        drop(older);
    }

    /// Waits for a process of a generation.
    pub(crate) async fn take(&self, generation: u64, process: u32) -> (Digest, T) {
        loop {
            let came = self.came.notified();
            if let Some(guest) = self.lock().guests.remove(&(generation, process)) {
                return guest;
            }
            came.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn introduction(generation: u64, process: u32) -> Introduction {
        Introduction { generation, process, layout: [process as u8; 32] }
    }

    #[test]
    fn an_introduction_survives_being_sent() {
        let sent = introduction(u64::MAX - 7, 9);
        assert_eq!(Introduction::from_bytes(&sent.to_bytes()), sent);
    }

    #[tokio::test]
    async fn the_early_wait_and_the_late_are_sent_away() {
        let arrivals = Arrivals::new();
        arrivals.add(introduction(3, 1), "early").unwrap();
        arrivals.add(introduction(2, 1), "in time").unwrap();
        arrivals.begin(2);
        assert_eq!(arrivals.take(2, 1).await, ([1; 32], "in time"));
        let late = arrivals.add(introduction(1, 5), "late").unwrap_err();
        assert_eq!(late, "process 5 came for generation 1, which is over: 2 has begun");
        arrivals.begin(3);
        let later = async { arrivals.add(introduction(3, 2), "later").unwrap() };
        let (first, second, ()) = tokio::join!(arrivals.take(3, 2), arrivals.take(3, 1), later);
        assert_eq!((first.1, second.1), ("later", "early"));
    }

    #[test]
    fn there_is_room_for_many_but_not_for_all() {
        let arrivals = Arrivals::new();
        for generation in 0..2_000 {
            arrivals.add(introduction(generation, 0), ()).unwrap();
        }
        let waiting = arrivals.lock();
        assert_eq!(waiting.guests.len(), ROOM);
        assert_eq!(waiting.guests.first_key_value().unwrap().0.0, 2_000 - ROOM as u64);
    }
}
