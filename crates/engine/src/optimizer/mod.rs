//! How gradients change weights: Keras 3's formulas, one pass over flat memory.
//!
//! Every element's update depends on that element alone, so threads and vectors change no bit. The
//! global norm is a sum over fixed blocks of fixed lanes.

mod rules;

use crate::cpu::Cpu;
use crate::kernels::plain;
use crate::share::{Cut, portion};
use rules::Rule;
use spec::Clip;

/// A rule and its memory: some slots, each as long as the weights, and the number of steps taken.
pub struct Optimizer {
    rule: spec::Optimizer,
    slots: Vec<Vec<f32>>,
    steps: u64,
    /// Sums of squares of the gradients, block by block.
    squares: Vec<f32>,
}

/// Elements that are summed before sums are added up in f64.
const BLOCK: usize = 4096;

/// What the update of an element costs, in multiply-adds.
const OPERATIONS: usize = 10;

impl Optimizer {
    /// An optimizer for `len` weights, before its first step.
    pub fn new(rule: spec::Optimizer, len: usize) -> Self {
        let slots = match rule {
            spec::Optimizer::Sgd(sgd) => usize::from(sgd.momentum != 0.0),
            spec::Optimizer::Adam(_) => 2,
            spec::Optimizer::Rmsprop(rmsprop) => 1 + usize::from(rmsprop.momentum != 0.0),
        };
        Optimizer {
            rule,
            slots: vec![vec![0.0; len]; slots],
            steps: 0,
            squares: vec![0.0; len.div_ceil(BLOCK)],
        }
    }

    /// Its memory, for a checkpoint: Adam's means of the gradient and its square; RMSprop's mean of
    /// the square, then its momentum; SGD's momentum. As many as the rule uses.
    pub fn slots(&self) -> &[Vec<f32>] {
        &self.slots
    }

    /// Its memory, to be changed: averaged over workers, say.
    pub fn slots_mut(&mut self) -> &mut [Vec<f32>] {
        &mut self.slots
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes back to where a checkpoint was written.
    ///
    /// # Panics
    /// When the slots are not as many and as long as this rule's.
    pub fn restore(&mut self, slots: Vec<Vec<f32>>, steps: u64) {
        let lengths = |slots: &[Vec<f32>]| slots.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&slots), lengths(&self.slots), "slots of this rule");
        self.slots = slots;
        self.steps = steps;
    }

    /// The bytes that an optimizer of this rule allocates for `len` weights.
    pub fn memory(rule: spec::Optimizer, len: usize) -> usize {
        let slots = Optimizer::new(rule, 0).slots.len();
        (slots * len + len.div_ceil(BLOCK)) * size_of::<f32>()
    }

    /// One step: `weights` change by `gradients`, at a learning rate.
    ///
    /// # Panics
    /// When the lengths differ from the one given to `new`.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is a thing of its own, used once"
    )]
    pub fn apply(
        &mut self,
        cpu: &Cpu,
        weights: &mut [f32],
        gradients: &[f32],
        rate: f32,
        clip: Option<Clip>,
    ) {
        let len = weights.len();
        assert_eq!(len, gradients.len(), "a gradient for each weight");
        assert!(
            self.slots.iter().all(|slot| slot.len() == len),
            "a slot for each weight"
        );
        self.steps += 1;
        let rule = Rule::new(self.rule, self.steps, rate);
        let (scale, bound) = match clip {
            None => (1.0, f32::INFINITY),
            Some(Clip::Value(value)) => (1.0, value),
            Some(Clip::Norm(limit)) => {
                (limit / self.norm(cpu, gradients).max(limit), f32::INFINITY)
            }
        };
        let parts = cpu.parts(len * OPERATIONS, len);
        let mut slots = self.slots.iter_mut();
        let mut slot = || slots.next().map_or(&mut [][..], |slot| &mut slot[..]);
        let memory = (
            Cut::new(weights, len, parts),
            cut_slot(slot(), len, parts),
            cut_slot(slot(), len, parts),
        );
        cpu.each(parts, memory, |part, (weights, first, second)| {
            let gradients = &gradients[portion(len, parts, part)];
            cpu.run(rules::Update {
                rule,
                scale,
                bound,
                weights,
                gradients,
                slots: [first, second],
            });
        });
    }

    /// The norm of all gradients together.
    fn norm(&mut self, cpu: &Cpu, gradients: &[f32]) -> f32 {
        let blocks = self.squares.len();
        let parts = cpu.parts(gradients.len(), blocks);
        cpu.each(
            parts,
            Cut::new(&mut self.squares, blocks, parts),
            |part, squares| {
                for (block, square) in portion(blocks, parts, part).zip(squares) {
                    let end = ((block + 1) * BLOCK).min(gradients.len());
                    let g = &gradients[block * BLOCK..end];
                    *square = plain::square_sum(cpu.isa(), g);
                }
            },
        );
        self.squares
            .iter()
            .map(|&square| f64::from(square))
            .sum::<f64>()
            .sqrt() as f32
    }
}

/// A slot cut like the weights, or nothing for each part.
fn cut_slot(slot: &mut [f32], len: usize, parts: usize) -> Cut<'_, f32> {
    let units = if slot.is_empty() { 0 } else { len };
    Cut::new(slot, units, parts)
}
