//! Which weights an optimizer changes.

use std::ops::Range;

use model::{Graph, Kind};

/// Some weights in a row, and which of them are trained. The others are what a layer itself moves, or
/// stay as they are: what stands for their gradient is simply taken from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trained {
    len: usize,
    /// Ascending, and apart from each other.
    ranges: Vec<Range<usize>>,
}

impl Trained {
    /// Those of a network.
    pub fn of(graph: &Graph) -> Trained {
        let mut ranges: Vec<Range<usize>> = vec![];
        for weight in graph.weights().iter().filter(|weight| weight.kind == Kind::Trained) {
            match ranges.last_mut().filter(|last| last.end == weight.range.start) {
                Some(last) => last.end = weight.range.end,
                None => ranges.push(weight.range.clone()),
            }
        }
        Trained { len: graph.parameter_count(), ranges }
    }

    /// How many weights there are, trained or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no weights.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of them, counted from its own beginning.
    #[must_use]
    pub fn within(&self, part: Range<usize>) -> Trained {
        let inside = self.ranges_in(part.clone()).filter(|range| !range.is_empty());
        let ranges = inside.map(|range| range.start - part.start..range.end - part.start).collect();
        Trained { len: part.len(), ranges }
    }

    /// The trained ones.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }

    /// Those between them.
    pub fn others(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ranges.iter().map(|range| range.end));
        let ends = self.ranges.iter().map(|range| range.start).chain([self.len]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|range| !range.is_empty())
    }

    /// The trained ones among some.
    pub(super) fn ranges_in(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = self.ranges.partition_point(|range| range.end <= part.start);
        let reached = self.ranges[first..].iter().take_while(move |range| range.start < part.end);
        reached.map(move |range| range.start.max(part.start)..range.end.min(part.end))
    }
}

impl From<usize> for Trained {
    /// So many weights, all of them trained.
    fn from(len: usize) -> Self {
        Trained { len, ranges: std::iter::once(0..len).filter(|all| !all.is_empty()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_what_lies_inside_it() {
        let whole = Trained { len: 20, ranges: vec![2..5, 8..12, 15..20] };
        assert_eq!(whole.others().collect::<Vec<_>>(), [0..2, 5..8, 12..15]);
        let part = whole.within(4..16);
        assert_eq!(part, Trained { len: 12, ranges: vec![0..1, 4..8, 11..12] });
        assert_eq!(whole.within(5..8), Trained { len: 3, ranges: vec![] });
        assert_eq!(whole.within(5..8).others().next(), Some(0..3));
        assert_eq!(whole.within(0..20), whole);
        assert_eq!(Trained::from(7).within(2..4), Trained::from(2));
        assert_eq!(Trained::from(0), Trained::default());
    }
}
