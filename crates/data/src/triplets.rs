//! Triplets of faces: an anchor, a positive (the same person), a negative (somebody else).
//!
//! Drawn anew in each epoch, as S3 drew its own: for each person, some pairs of two different pictures,
//! and some pictures of others; every pair is put together with every one of those. What comes out is a
//! pure function of the classes and the key, and shuffled.

use random::{Key, Purpose};

use crate::samples::Samples;

/// How many are drawn for each person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Pairs of an anchor and a positive.
    pub pairs: usize,
    /// Negatives for each pair.
    pub negatives: usize,
}

impl Default for Draw {
    /// S3's numbers.
    fn default() -> Self {
        Draw { pairs: 10, negatives: 10 }
    }
}

impl Draw {
    /// How many triplets are drawn of classes that have so many samples.
    pub fn count(self, per_class: &[u64]) -> usize {
        let all: u64 = per_class.iter().sum();
        let of = |&own: &u64| {
            let ways = u128::from(own) * u128::from(own.saturating_sub(1));
            ways.min(self.pairs as u128) as u64 * (all - own).min(self.negatives as u64)
        };
        per_class.iter().map(of).sum::<u64>() as usize
    }
}

/// The shape of one picture of samples that may be triplets already, as S3's file has them. No network
/// takes samples of four sides, so that there is nothing else they could be.
pub fn picture_shape(shape: &[usize]) -> &[usize] {
    match shape {
        [3, picture @ ..] if picture.len() == 3 => picture,
        shape => shape,
    }
}

impl Samples {
    /// Whether each sample is a triplet.
    pub fn are_triplets(&self) -> bool {
        picture_shape(&self.shape) != self.shape
    }

    /// Triplets to measure by, with one negative for each pair: always the same ones. Samples that are
    /// triplets stay what they are.
    #[must_use]
    pub fn to_triplets(&self, pairs: usize) -> Samples {
        if self.are_triplets() {
            return self.clone();
        }
        let drawn = triplets(&self.y, Draw { pairs, negatives: 1 }, 0, 0, 0);
        let Samples { x, .. } = self.gather(drawn.as_flattened());
        let shape = [&[3], &self.shape[..]].concat();
        Samples { shape, x, y: vec![0; drawn.len()], classes: self.classes }
    }
}

/// Draws the triplets of an epoch for a worker: numbers of samples, whose classes are `y`. A person with
/// a single picture has no pair, and is only ever a negative. Empty where nobody has a pair, or there
/// is one person alone.
pub fn triplets(y: &[u32], draw: Draw, seed: u64, rank: u64, epoch: u64) -> Vec<[u32; 3]> {
    let key = Key::new(seed, Purpose::Triplets).with(rank).with(epoch);
    let mut by_class: Vec<u32> = (0..y.len() as u32).collect();
    by_class.sort_by_key(|&sample| y[sample as usize]);
    let mut drawn = Vec::new();
    let mut start = 0;
    for group in by_class.chunk_by(|&a, &b| y[a as usize] == y[b as usize]) {
        let others = Others { all: &by_class, skip: start..start + group.len() };
        let person = u64::from(y[group[0] as usize]);
        draw_person(group, &others, draw, key.with(0).with(person), &mut drawn);
        start += group.len();
    }
    let order = key.with(1).permutation(drawn.len());
    order.into_iter().map(|place| drawn[place as usize]).collect()
}

/// All samples but one person's.
struct Others<'a> {
    all: &'a [u32],
    skip: std::ops::Range<usize>,
}

impl Others<'_> {
    fn len(&self) -> usize {
        self.all.len() - self.skip.len()
    }

    fn at(&self, place: usize) -> u32 {
        self.all[if place < self.skip.start { place } else { place + self.skip.len() }]
    }
}

/// Draws the triplets of one person.
fn draw_person(own: &[u32], others: &Others<'_>, draw: Draw, key: Key, drawn: &mut Vec<[u32; 3]>) {
    // Pairs are numbered: anchor after anchor, each with every other picture.
    let ways = own.len() * (own.len() - 1);
    let pairs = distinct(ways, draw.pairs, key.with(0)).map(|way| {
        let (anchor, positive) = (way / (own.len() - 1), way % (own.len() - 1));
        (own[anchor], own[positive + usize::from(positive >= anchor)])
    });
    let negatives: Vec<u32> =
        distinct(others.len(), draw.negatives, key.with(1)).map(|place| others.at(place)).collect();
    for (anchor, positive) in pairs {
        drawn.extend(negatives.iter().map(|&negative| [anchor, positive, negative]));
    }
}

/// `count` different numbers below `bound`, or all where there are fewer: those that a shuffle puts
/// first, found without shuffling the rest.
fn distinct(bound: usize, count: usize, key: Key) -> impl Iterator<Item = usize> {
    let mut moved = std::collections::BTreeMap::new();
    (0..count.min(bound)).map(move |place| {
        let other = place + key.below(place as u64, (bound - place) as u64) as usize;
        let chosen = moved.get(&other).copied().unwrap_or(other);
        let here = moved.get(&place).copied().unwrap_or(place);
        moved.insert(other, here);
        chosen
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn anchors_and_positives_are_of_one_person_and_negatives_of_another(
            y in prop::collection::vec(0u32..5, 0..60),
            pairs in 0usize..12,
            negatives in 0usize..12,
            seed: u64,
        ) {
            let drawn = triplets(&y, Draw { pairs, negatives }, seed, 0, 3);
            for &[anchor, positive, negative] in &drawn {
                prop_assert_ne!(anchor, positive);
                prop_assert_eq!(y[anchor as usize], y[positive as usize]);
                prop_assert_ne!(y[anchor as usize], y[negative as usize]);
            }
            let all: BTreeSet<_> = drawn.iter().collect();
            prop_assert_eq!(all.len(), drawn.len());
            let expected: usize = (0..5)
                .map(|class| y.iter().filter(|&&own| own == class).count())
                .filter(|&own| own > 0)
                .map(|own| pairs.min(own * (own - 1)) * negatives.min(y.len() - own))
                .sum();
            prop_assert_eq!(drawn.len(), expected);
            let samples = Samples { classes: 5, ..Samples::synthetic(&[1], 1, y.len(), 0) };
            let samples = Samples { y, ..samples };
            prop_assert_eq!(Draw { pairs, negatives }.count(&samples.per_class()), expected);
        }
    }

    #[test]
    fn seed_rank_and_epoch_decide() {
        let y: Vec<u32> = (0..40).map(|sample| sample / 10).collect();
        let draw = |seed, rank, epoch| triplets(&y, Draw::default(), seed, rank, epoch);
        assert_eq!(draw(1, 0, 0), draw(1, 0, 0));
        assert_eq!(draw(1, 0, 0).len(), 4 * 10 * 10);
        for other in [draw(2, 0, 0), draw(1, 1, 0), draw(1, 0, 1)] {
            assert_ne!(draw(1, 0, 0), other);
        }
        // Written down once: a resumed run must draw what it drew before.
        let few = triplets(&[0, 0, 1, 1], Draw { pairs: 1, negatives: 1 }, 0, 0, 0);
        assert_eq!(few, [[0, 1, 2], [2, 3, 1]]);
    }

    #[test]
    fn samples_become_triplets_once() {
        let mut people = Samples::synthetic(&[2, 2, 1], 3, 9, 1);
        people.y = (0..9).map(|sample| sample / 3).collect();
        let measured = people.to_triplets(4);
        assert_eq!((measured.shape.as_slice(), measured.len()), (&[3, 2, 2, 1][..], 12));
        assert!(measured.are_triplets() && !people.are_triplets());
        assert_eq!(measured.to_triplets(4), measured);
        assert_eq!(measured, people.to_triplets(4));
        assert_eq!(picture_shape(&measured.shape), people.shape);
    }

    #[test]
    fn every_pair_is_drawn_about_as_often() {
        let mut counts = [0u32; 6];
        for epoch in 0..6000 {
            let key = Key::new(1, Purpose::Triplets).with(epoch);
            distinct(6, 2, key).for_each(|number| counts[number] += 1);
        }
        assert!(counts.iter().all(|count| (1850..2150).contains(count)), "{counts:?}");
    }
}
