//! Numbers to exchange, and what their sum must be.

use collective::{Note, Part};

/// A value whose bits depend on everything and whose sums round.
pub(crate) fn value(round: usize, rank: usize, place: usize) -> f32 {
    let mixed = mix((round as u64) << 48 | (rank as u64) << 32 | place as u64);
    let sign = if mixed & 1 == 0 { 1.0 } else { -1.0 };
    sign * ((mixed >> 40) as f32) * [1e-3, 1.0, 1e4][(mixed >> 1) as usize % 3]
}

pub(crate) fn values(round: usize, rank: usize, len: usize) -> Vec<f32> {
    (0..len).map(|place| value(round, rank, place)).collect()
}

pub(crate) fn note(round: usize, rank: usize) -> Note {
    let mut note = [rank as u8; 64];
    note[0] = round as u8;
    note
}

/// The notes of all ranks.
pub(crate) fn notes(round: usize, world: usize) -> Vec<Note> {
    (0..world).map(|rank| note(round, rank)).collect()
}

/// What these ranks bring.
pub(crate) struct Brought {
    values: Vec<Vec<f32>>,
    notes: Vec<Note>,
}

impl Brought {
    pub(crate) fn new(round: usize, ranks: &[usize], len: usize) -> Brought {
        Brought {
            values: ranks.iter().map(|&rank| values(round, rank, len)).collect(),
            notes: ranks.iter().map(|&rank| note(round, rank)).collect(),
        }
    }

    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = vec![];
        for (values, note) in self.values.iter().zip(&self.notes) {
            parts.push(Part { values, note: *note });
        }
        parts
    }
}

/// The rule as it is told: level by level, neighbours added, an odd last one passes through.
pub(crate) fn sum(round: usize, world: usize, len: usize) -> Vec<f32> {
    let mut level: Vec<Vec<f32>> = (0..world).map(|rank| values(round, rank, len)).collect();
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [left, right] => left.iter().zip(right).map(|(left, right)| left + right).collect(),
            one => one[0].clone(),
        });
        level = pairs.collect();
    }
    level.remove(0)
}

pub(crate) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A hosting of `world` ranks by `seats` seats; some may have none.
pub(crate) fn hosting(seed: u64, world: usize, seats: usize) -> Vec<Vec<usize>> {
    let mut hosting = vec![vec![]; seats];
    for rank in 0..world {
        let seat = mix(seed << 32 | rank as u64) as usize % seats;
        hosting[seat].push(rank);
    }
    // In no special order.
    for ranks in &mut hosting {
        ranks.sort_by_key(|&rank| mix(seed.wrapping_add(rank as u64)));
    }
    hosting
}

/// Each rank on a seat of its own.
pub(crate) fn one_each(world: usize) -> Vec<Vec<usize>> {
    (0..world).map(|rank| vec![rank]).collect()
}

fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
