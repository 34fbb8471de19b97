//! A group of one process, which hosts every rank. Nothing travels; the sum is the same.

use crate::group::{Note, Part, check_parts};
use crate::tree::{Span, Sum};
use crate::{Broken, Layout};

pub(crate) struct Alone {
    /// The place of each rank in the parts.
    order: Vec<usize>,
    sum: Sum,
    pub(crate) result: Vec<f32>,
    pub(crate) notes: Vec<Note>,
}

impl Alone {
    pub(crate) fn new(layout: &Layout) -> Alone {
        let ranks = &layout.seats[layout.me].ranks;
        let mut order: Vec<usize> = (0..ranks.len()).collect();
        order.sort_by_key(|&place| ranks[place]);
        let leaves: Vec<Span> = (0..layout.world).map(|rank| rank..rank + 1).collect();
        Alone {
            order,
            sum: Sum::new(0..layout.world, &leaves),
            result: vec![0.0; layout.len],
            notes: vec![[0; 64]; layout.world],
        }
    }

    /// How many values were summed.
    pub(crate) fn all_reduce(&mut self, parts: &[Part<'_>]) -> Result<usize, Broken> {
        let len = check_parts(parts, self.order.len(), self.result.len())?;
        let leaves: Vec<&[f32]> = self.order.iter().map(|&place| parts[place].values).collect();
        self.sum.run(&leaves, &mut self.result[..len]);
        for (note, &place) in self.notes.iter_mut().zip(&self.order) {
            *note = parts[place].note;
        }
        Ok(len)
    }
}
