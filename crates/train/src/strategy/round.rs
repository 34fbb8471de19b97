//! What ranks do for themselves between two times of coming together.

use std::collections::BTreeMap;

use engine::Session;

use crate::checkpoint::{Position, Snapshot};
use crate::tally::Tally;

/// The weights and slots that every rank starts a round with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    pub(crate) weights: Vec<f32>,
    pub(crate) slots: Vec<Vec<f32>>,
}

/// A rank on its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replica {
    /// Steps done.
    pub(crate) step: u64,
    pub(crate) tally: Tally,
    pub(crate) weights: Vec<f32>,
    pub(crate) slots: Vec<Vec<f32>>,
}

/// A round under way; nothing in it where ranks are equal.
#[derive(Default)]
pub(crate) struct Round {
    start: Option<Start>,
    /// Ranks that have begun, apart from the one in hand.
    pub(crate) replicas: BTreeMap<usize, Replica>,
    /// The rank whose weights the engine holds now.
    pub(crate) in_hand: Option<InHand>,
}

/// The rank that is being trained.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InHand {
    pub(crate) rank: usize,
    pub(crate) step: u64,
    pub(crate) tally: Tally,
}

impl Start {
    pub(crate) fn of(session: &Session, optimizer: &engine::Optimizer) -> Self {
        Start {
            weights: session.weights().to_vec(),
            slots: optimizer.slots().iter().map(|slot| slot.to_vec()).collect(),
        }
    }
}

impl Round {
    /// What the round began with, once it has begun.
    pub(crate) fn start(&self) -> Option<&Start> {
        self.start.as_ref()
    }

    /// Begins the round, if it has not begun.
    pub(crate) fn begin(&mut self, session: &Session, optimizer: &engine::Optimizer) {
        self.start.get_or_insert_with(|| Start::of(session, optimizer));
    }

    /// How far the rank in hand has come, or the one that was last.
    pub(crate) fn reached(&self) -> Option<u64> {
        let in_hand = self.in_hand.map(|in_hand| in_hand.step);
        in_hand.or_else(|| self.replicas.values().map(|replica| replica.step).max())
    }

    /// Every rank that has begun here, and how far it has come.
    pub(crate) fn progress(&self) -> BTreeMap<usize, u64> {
        let replicas = self.replicas.iter().map(|(&rank, replica)| (rank, replica.step));
        replicas.chain(self.in_hand.map(|in_hand| (in_hand.rank, in_hand.step))).collect()
    }

    /// What a rank has done by itself, as it is saved: where it stands, and from where it began.
    pub(crate) fn snapshots(
        &mut self,
        begun_at: u64,
        (session, optimizer): (&Session, &engine::Optimizer),
    ) -> Vec<(usize, Snapshot)> {
        let in_hand = self.in_hand;
        self.put_aside(session, optimizer);
        let snapshot = |(&rank, replica): (&usize, &Replica)| {
            let Replica { step, tally, weights, slots } = replica;
            let position = Position {
                step: *step,
                epoch_step: begun_at,
                tally: *tally,
                ..Position::default()
            };
            let arrays = std::iter::once(weights).chain(slots);
            let arrays = arrays.enumerate().map(|(i, array)| (i.to_string(), array.clone()));
            (rank, Snapshot { position, arrays: arrays.collect() })
        };
        let snapshots = self.replicas.iter().map(snapshot).collect();
        if let Some(in_hand) = in_hand {
            self.replicas.remove(&in_hand.rank);
            self.in_hand = Some(in_hand);
        }
        snapshots
    }

    /// Goes on from a snapshot of a rank, if it is of a round that began there.
    pub(crate) fn restore(&mut self, rank: usize, begun_at: u64, snapshot: Snapshot) {
        let Snapshot { position: Position { step, epoch_step, tally, .. }, arrays } = snapshot;
        let mut arrays = arrays.into_iter().map(|(_, array)| array);
        if let (true, Some(weights)) = (epoch_step == begun_at && step > begun_at, arrays.next()) {
            self.replicas.insert(rank, Replica { step, tally, weights, slots: arrays.collect() });
        }
    }

    /// Puts the rank in hand aside.
    pub(crate) fn put_aside(&mut self, session: &Session, optimizer: &engine::Optimizer) {
        if let Some(InHand { rank, step, tally }) = self.in_hand.take() {
            let Start { weights, slots } = Start::of(session, optimizer);
            self.replicas.insert(rank, Replica { step, tally, weights, slots });
        }
    }
}
