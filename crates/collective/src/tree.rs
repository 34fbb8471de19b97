//! The one sum over ranks.
//!
//! Adding floats in another order gives other bits, so there is one order: level by level, neighbours
//! are added, and an odd last one passes through: ((g0+g1)+(g2+g3))+g4. As a tree: the ranks of a span
//! are split after the largest power of two that leaves something over, and the two halves' sums are
//! added, the left one first.
//!
//! Whoever hosts all ranks of a **subtree** may add them up before they travel, since the whole sum
//! does just that. The largest subtrees that a set of ranks covers are its **pieces**. Nothing else
//! may be added early.
//!
//! A [`Sum`] is compiled once for the spans it is given and then runs over values block by block, so
//! that what is added twice stays in the fastest cache.

use std::ops::Range;

/// Ranks next to each other that are one subtree.
pub(crate) type Span = Range<usize>;

/// Floats that are summed at a time: a few such blocks fit in the fastest cache.
const BLOCK: usize = 1024;

/// Adds up one term for each rank, by rank, each as long as `out`: the bits that a group of these ranks
/// would come to.
///
/// # Panics
/// When there is no term, or one is shorter than `out`.
pub fn canonical_sum(terms: &[&[f32]], out: &mut [f32]) {
    let leaves: Vec<Span> = (0..terms.len()).map(|rank| rank..rank + 1).collect();
    Sum::new(0..terms.len(), &leaves).run(terms, out);
}

/// The largest subtrees of `0..world` that these ranks cover, by rank.
pub(crate) fn pieces(ranks: &[usize], world: usize) -> Vec<Span> {
    let mut hosted = vec![false; world];
    for &rank in ranks {
        hosted[rank] = true;
    }
    let mut found = vec![];
    collect_pieces(0..world, &hosted, &mut found);
    found
}

fn collect_pieces(span: Span, hosted: &[bool], found: &mut Vec<Span>) {
    if hosted[span.clone()].iter().all(|&is_hosted| is_hosted) {
        if !span.is_empty() {
            found.push(span);
        }
    } else if span.len() > 1 {
        let (left, right) = halves(&span);
        collect_pieces(left, hosted, found);
        collect_pieces(right, hosted, found);
    }
}

/// The two subtrees whose sums are added to that of `span`, which has more than one rank.
fn halves(span: &Span) -> (Span, Span) {
    let left = span.len().next_power_of_two() / 2;
    (span.start..span.start + left, span.start + left..span.end)
}

/// How to add the sums of some subtrees up to the sum of the subtree that they make.
pub(crate) struct Sum {
    steps: Vec<Step>,
    /// A block for each level below the first, which is the result itself.
    scratch: Vec<f32>,
}

/// `level = left + right`. A left term that is not a leaf is what the level holds already, and such
/// a right term is what the level below holds.
struct Step {
    level: usize,
    left: Option<usize>,
    right: Option<usize>,
}

impl Sum {
    /// The sum of `whole` from `leaves`, subtrees that tile it, in the order of their ranks.
    pub(crate) fn new(whole: Span, leaves: &[Span]) -> Sum {
        let mut steps = vec![];
        compile(whole, leaves, 0, &mut steps);
        let levels = steps.iter().map(|step| step.level + usize::from(step.right.is_none()));
        let scratch = vec![0.0; levels.max().unwrap_or(0) * BLOCK];
        Sum { steps, scratch }
    }

    /// Adds up the values of the leaves, which are all as long as `out`.
    pub(crate) fn run(&mut self, leaves: &[&[f32]], out: &mut [f32]) {
        if self.steps.is_empty() {
            out.copy_from_slice(leaves[0]);
            return;
        }
        for start in (0..out.len()).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(out.len());
            for step in &self.steps {
                let leaf = |leaf: usize| &leaves[leaf][block.clone()];
                let mut levels =
                    Levels { out: &mut out[block.clone()], scratch: &mut self.scratch };
                let (level, below) = levels.pair(step.level);
                let right = step.right.map_or(below, leaf);
                match step.left {
                    Some(left) => add(level, leaf(left), right),
                    None => add_to(level, right),
                }
            }
        }
    }
}

/// Writes the steps that put the sum of `span` in `level`, unless it is a leaf, whose place is
/// returned.
fn compile(span: Span, leaves: &[Span], level: usize, steps: &mut Vec<Step>) -> Option<usize> {
    if let Some(leaf) = leaves.iter().position(|leaf| *leaf == span) {
        return Some(leaf);
    }
    assert!(span.len() > 1, "the leaves tile the whole");
    let (left, right) = halves(&span);
    let left = compile(left, leaves, level, steps);
    let right = compile(right, leaves, level + 1, steps);
    steps.push(Step { level, left, right });
    None
}

/// A block of the result, and the blocks for what is added to it later.
struct Levels<'a> {
    out: &'a mut [f32],
    scratch: &'a mut [f32],
}

impl Levels<'_> {
    /// A level to write and, where there is one, the level below it to read.
    fn pair(&mut self, level: usize) -> (&mut [f32], &[f32]) {
        let length = self.out.len();
        if level == 0 {
            let below = self.scratch.get(..length).unwrap_or_default();
            return (self.out, below);
        }
        let (upper, lower) = self.scratch.split_at_mut(level * BLOCK);
        let level = &mut upper[(level - 1) * BLOCK..][..length];
        (level, lower.get(..length).unwrap_or_default())
    }
}

fn add(out: &mut [f32], left: &[f32], right: &[f32]) {
    for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
        *out = left + right;
    }
}

fn add_to(out: &mut [f32], right: &[f32]) {
    for (out, right) in out.iter_mut().zip(right) {
        *out += right;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule as it is told: level by level.
    fn reference(mut values: Vec<Vec<f32>>) -> Vec<f32> {
        while values.len() > 1 {
            values = values
                .chunks(2)
                .map(|pair| match pair {
                    [left, right] => left.iter().zip(right).map(|(a, b)| a + b).collect(),
                    one => one[0].clone(),
                })
                .collect();
        }
        values.remove(0)
    }

    fn values(world: usize, length: usize) -> Vec<Vec<f32>> {
        let value = |rank: usize, place: usize| {
            let bits = (rank * 7_919 + place * 104_729 + 12_345) as u32;
            let bits = bits.wrapping_mul(2_654_435_761);
            (bits >> 8) as f32 / 1e6 * if bits & 1 == 0 { 1.0 } else { -1e-3 }
        };
        (0..world).map(|rank| (0..length).map(|place| value(rank, place)).collect()).collect()
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn pieces_are_the_largest_subtrees() {
        let starts_and_ends = |ranks: &[usize], world| -> Vec<(usize, usize)> {
            pieces(ranks, world).into_iter().map(|span| (span.start, span.end)).collect()
        };
        assert_eq!(starts_and_ends(&[0, 1, 2, 3, 4], 5), [(0, 5)]);
        assert_eq!(starts_and_ends(&[4], 5), [(4, 5)]);
        assert_eq!(starts_and_ends(&[1, 2], 4), [(1, 2), (2, 3)]);
        assert_eq!(starts_and_ends(&[2, 3, 4], 5), [(2, 4), (4, 5)]);
        assert_eq!(starts_and_ends(&[4, 5, 6], 7), [(4, 7)]);
        assert_eq!(starts_and_ends(&[6, 5], 7), [(5, 6), (6, 7)]);
        assert_eq!(starts_and_ends(&[], 3), []);
    }

    #[test]
    fn one_rank_passes_through() {
        let mut out = [0.0; 2];
        Sum::new(3..4, std::slice::from_ref(&(3..4))).run(&[&[-0.0, 2.0]], &mut out);
        assert_eq!(bits(&out), bits(&[-0.0, 2.0]));
    }

    #[test]
    fn terms_by_rank_give_the_same_bits() {
        for world in 1..=9 {
            let values = values(world, BLOCK + 3);
            let terms: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
            let mut out = vec![0.0; BLOCK + 3];
            canonical_sum(&terms, &mut out);
            assert_eq!(bits(&out), bits(&reference(values)), "{world} ranks");
        }
    }

    proptest! {
        #[test]
        fn any_hosting_gives_the_same_bits(
            world in 1..40usize,
            hosts in prop::collection::vec(0..5usize, 40),
            length in prop::sample::select(vec![0, 1, 7, BLOCK, 2 * BLOCK + 3]),
        ) {
            let values = values(world, length);
            let mut sums: Vec<(Span, Vec<f32>)> = vec![];
            for host in 0..5 {
                let ranks: Vec<usize> = (0..world).filter(|&rank| hosts[rank] == host).collect();
                for piece in pieces(&ranks, world) {
                    let leaves: Vec<Span> = piece.clone().map(|rank| rank..rank + 1).collect();
                    let slices: Vec<&[f32]> = piece.clone().map(|rank| &values[rank][..]).collect();
                    let mut out = vec![0.0; length];
                    Sum::new(piece.clone(), &leaves).run(&slices, &mut out);
                    sums.push((piece, out));
                }
            }
            sums.sort_by_key(|(piece, _)| piece.start);
            let leaves: Vec<Span> = sums.iter().map(|(piece, _)| piece.clone()).collect();
            let slices: Vec<&[f32]> = sums.iter().map(|(_, values)| &values[..]).collect();
            let mut out = vec![0.0; length];
            Sum::new(0..world, &leaves).run(&slices, &mut out);
            prop_assert_eq!(bits(&out), bits(&reference(values)));
        }
    }
}
