//! Which sample goes where, decided purely.
//!
//! Shards: put the samples in an order, then deal them out like cards, one to each part in turn.
//! Each sample lands in exactly one part and sizes differ by at most one. In a random order that is
//! a random split; in an order that goes class by class (random within each) every class is dealt
//! out evenly too, so no part has more than one sample of a class above another.
//!
//! Hold-out: from the same order take every n/k-th sample. Classes are then held out in proportion.

use random::Key;

use crate::error::{DataError, Result};

/// Deals `0..n` out to `parts`, every number to exactly one, sizes within one of each other; with
/// `labels`, within each class as well. Each part is in random order.
pub fn split(n: usize, parts: usize, labels: Option<&[u32]>, key: Key) -> Result<Vec<Vec<u32>>> {
    if parts == 0 || parts > n {
        return Err(DataError::Impossible(format!(
            "{n} samples cannot be split into {parts} shards; choose between 1 and {n}"
        )));
    }
    let order = order(n, labels, key);
    let deal =
        |part: usize| -> Vec<u32> { order.iter().copied().skip(part).step_by(parts).collect() };
    Ok((0..parts)
        .map(|part| match labels {
            None => deal(part),
            Some(_) => shuffled(&deal(part), key.with(1).with(part as u64)),
        })
        .collect())
}

/// Takes `count` of `0..n` out; with `labels`, of each class its share, give or take one.
/// Returns what stays and what was taken, both ascending.
pub(crate) fn hold_out(
    n: usize,
    count: usize,
    labels: Option<&[u32]>,
    key: Key,
) -> (Vec<u32>, Vec<u32>) {
    assert!(count <= n, "only what is there can be held out");
    let order = order(n, labels, key);
    let mut taken = vec![false; n];
    for i in 0..count {
        let position = (i as u128 * n as u128 / count as u128) as usize;
        taken[order[position] as usize] = true;
    }
    (0..n as u32).partition(|&index| !taken[index as usize])
}

/// `0..n` in random order, or class after class and random within each.
fn order(n: usize, labels: Option<&[u32]>, key: Key) -> Vec<u32> {
    let mut order = key.with(0).permutation(n);
    if let Some(labels) = labels {
        assert_eq!(labels.len(), n, "there is a label for each sample");
        order.sort_by_key(|&index| labels[index as usize]);
    }
    order
}

fn shuffled(indices: &[u32], key: Key) -> Vec<u32> {
    let order = key.permutation(indices.len());
    order.iter().map(|&i| indices[i as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use random::Purpose;

    fn key(seed: u64) -> Key {
        Key::new(seed, Purpose::Split)
    }

    fn spread(counts: impl Iterator<Item = usize> + Clone) -> usize {
        counts.clone().max().unwrap() - counts.min().unwrap()
    }

    fn class_size(part: &[u32], labels: &[u32], class: u32) -> usize {
        part.iter().filter(|&&i| labels[i as usize] == class).count()
    }

    proptest! {
        #[test]
        fn every_sample_is_in_exactly_one_shard(
            labels in prop::collection::vec(0u32..5, 1..300),
            parts in 1usize..40,
            stratify: bool,
            seed: u64,
        ) {
            let n = labels.len();
            let result = split(n, parts, stratify.then_some(&labels), key(seed));
            if parts > n {
                prop_assert!(result.is_err());
                return Ok(());
            }
            let shards = result.unwrap();
            let mut all: Vec<u32> = shards.concat();
            all.sort_unstable();
            prop_assert!(all.iter().copied().eq(0..n as u32));
            prop_assert!(spread(shards.iter().map(Vec::len)) <= 1);
            if stratify {
                for class in 0..5 {
                    let sizes = shards.iter().map(|shard| class_size(shard, &labels, class));
                    prop_assert!(spread(sizes) <= 1);
                }
            }
        }

        #[test]
        fn a_hold_out_is_exact_and_in_proportion(
            labels in prop::collection::vec(0u32..5, 2..300),
            share in 0.0f64..0.99,
            stratify: bool,
            seed: u64,
        ) {
            let n = labels.len();
            let count = (share * n as f64) as usize;
            let (kept, taken) = hold_out(n, count, stratify.then_some(&labels), key(seed));
            prop_assert_eq!(taken.len(), count);
            let mut all = [kept, taken.clone()].concat();
            all.sort_unstable();
            prop_assert!(all.iter().copied().eq(0..n as u32));
            if stratify {
                for class in 0..5 {
                    let size = labels.iter().filter(|&&l| l == class).count();
                    let fair = size as f64 * count as f64 / n as f64;
                    prop_assert!((class_size(&taken, &labels, class) as f64 - fair).abs() < 1.0);
                }
            }
        }
    }

    #[test]
    fn the_seed_decides() {
        let shards = |seed| split(1000, 3, None, key(seed)).unwrap();
        assert_eq!(shards(1), shards(1));
        assert_ne!(shards(1), shards(2));
        // Written down once: a resumed run must find its samples where they were.
        let (plain, stratified) =
            (split(7, 3, None, key(0)), split(7, 3, Some(&[0, 0, 0, 1, 1, 1, 1]), key(0)));
        assert_eq!(plain.unwrap(), [vec![5, 6, 2], vec![3, 0], vec![1, 4]]);
        assert_eq!(stratified.unwrap(), [vec![4, 1, 5], vec![3, 0], vec![2, 6]]);
        assert_eq!(hold_out(7, 3, None, key(0)).1, [0, 1, 5]);
    }

    #[test]
    fn more_shards_than_samples_are_an_error() {
        let error = split(3, 4, None, key(0)).unwrap_err().to_string();
        assert!(error.contains("3 samples cannot be split into 4 shards"), "{error}");
    }
}
