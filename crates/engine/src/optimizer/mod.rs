//! How gradients change weights: Keras 3's formulas, one pass over flat memory.
//!
//! Every element's update depends on that element alone, so threads and vectors change no bit. The
//! global norm is a sum over fixed blocks of fixed lanes.

mod rules;
mod trained;

use crate::arena::{self, Arena};
use crate::cpu::Cpu;
use crate::kernels::plain;
use crate::share::{Cut, portion};
use rules::{LINE, Rule};
use spec::Clip;
pub use trained::Trained;

/// A rule and its memory: some slots, each as long as the weights, and the number of steps taken.
pub struct Optimizer {
    rule: spec::Optimizer,
    trained: Trained,
    slots: Vec<Arena>,
    steps: u64,
    /// Sums of squares of the gradients, block by block.
    squares: Vec<f32>,
}

/// Elements that are summed before sums are added up in f64.
const BLOCK: usize = 4096;

/// What the update of an element costs, in multiply-adds.
const OPERATIONS: usize = 10;

impl Optimizer {
    /// An optimizer for some weights, before its first step. A number is so many that are all trained.
    pub fn new(rule: spec::Optimizer, weights: impl Into<Trained>) -> Self {
        let trained = weights.into();
        let len = trained.len();
        let slots = match rule {
            spec::Optimizer::Sgd(sgd) => usize::from(sgd.momentum != 0.0),
            spec::Optimizer::Adam(_) | spec::Optimizer::Adamw(_) => 2,
            spec::Optimizer::Rmsprop(rmsprop) => 1 + usize::from(rmsprop.momentum != 0.0),
        };
        Optimizer {
            rule,
            trained,
            slots: (0..slots).map(|_| Arena::new(len)).collect(),
            steps: 0,
            squares: vec![0.0; len.div_ceil(BLOCK)],
        }
    }

    /// Its memory, for a checkpoint: Adam's and AdamW's means of the gradient and its square; RMSprop's mean of
    /// the square, then its momentum; SGD's momentum. As many as the rule uses.
    pub fn slots(&self) -> &[Arena] {
        &self.slots
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes back to where a checkpoint was written, or to the beginning with slots of zeroes.
    ///
    /// # Panics
    /// When the slots are not as many and as long as this rule's.
    pub fn restore(&mut self, slots: &[Vec<f32>], steps: u64) {
        assert_eq!(slots.len(), self.slots.len(), "slots of this rule");
        for (to, from) in self.slots.iter_mut().zip(slots) {
            to.copy_from_slice(from);
        }
        self.steps = steps;
    }

    /// The bytes that an optimizer of this rule allocates for `len` weights.
    pub fn memory(rule: spec::Optimizer, len: usize) -> usize {
        let slots = Optimizer::new(rule, 0).slots.len();
        slots * arena::size(len) + len.div_ceil(BLOCK) * size_of::<f32>()
    }

    /// One step: `weights` change by `gradients`, at a learning rate.
    ///
    /// # Panics
    /// When the lengths differ from the one given to `new`.
    #[expect(clippy::too_many_arguments, reason = "each is a thing of its own, used once")]
    pub fn apply(
        &mut self,
        cpu: &Cpu,
        weights: &mut [f32],
        gradients: &[f32],
        rate: f32,
        clip: Option<Clip>,
    ) {
        let (scale, bound) = match clip {
            None => (1.0, f32::INFINITY),
            Some(Clip::Value(value)) => (1.0, value),
            Some(Clip::Norm(limit)) => {
                (limit / self.norm(cpu, gradients).max(limit), f32::INFINITY)
            }
        };
        self.update(cpu, weights, gradients, (rate, scale, bound));
    }

    /// One step with gradients that are multiplied by `scale` first: where these are a part of all, and
    /// what clips them was found elsewhere.
    ///
    /// # Panics
    /// When the lengths differ from the one given to `new`.
    pub fn apply_scaled(
        &mut self,
        cpu: &Cpu,
        weights: &mut [f32],
        gradients: &[f32],
        (rate, scale): (f32, f32),
    ) {
        self.update(cpu, weights, gradients, (rate, scale, f32::INFINITY));
    }

    fn update(
        &mut self,
        cpu: &Cpu,
        weights: &mut [f32],
        gradients: &[f32],
        (rate, scale, bound): (f32, f32, f32),
    ) {
        let len = weights.len();
        assert_eq!(len, gradients.len(), "a gradient for each weight");
        assert!(self.slots.iter().all(|slot| slot.len() == len), "a slot for each weight");
        self.steps += 1;
        let step = rules::Step { rule: Rule::new(self.rule, self.steps, rate), scale, bound };
        for range in self.trained.ranges() {
            let mut slots = self.slots.iter_mut().map(|slot| &mut slot[range.clone()]);
            let slots = [0, 1].map(|_| slots.next().unwrap_or_default());
            let gradients = &gradients[range.clone()];
            update(cpu, step, (&mut weights[range.clone()], gradients), slots);
        }
        for range in self.trained.others() {
            let pairs = weights[range.clone()].iter_mut().zip(&gradients[range]);
            pairs.for_each(|(weight, gradient)| *weight -= gradient);
        }
    }

    /// The norm of all trained weights' gradients together.
    fn norm(&mut self, cpu: &Cpu, gradients: &[f32]) -> f32 {
        let (blocks, trained) = (self.squares.len(), &self.trained);
        let parts = cpu.parts(gradients.len(), blocks);
        cpu.each(parts, Cut::new(&mut self.squares, blocks, parts), |part, squares| {
            for (block, square) in portion(blocks, parts, part).zip(squares) {
                *square = block_square(cpu, trained, gradients, block);
            }
        });
        self.squares.iter().map(|&square| f64::from(square)).sum::<f64>().sqrt() as f32
    }

    /// The sum of the squares of the trained weights' gradients. Parts that are cut at a multiple of 4096
    /// add up to the whole.
    pub fn squares(&self, cpu: &Cpu, gradients: &[f32]) -> f64 {
        let blocks = 0..gradients.len().div_ceil(BLOCK);
        blocks.map(|block| f64::from(block_square(cpu, &self.trained, gradients, block))).sum()
    }

    /// Multiplies the gradients of the trained weights.
    pub fn scale(&self, gradients: &mut [f32], factor: f32) {
        for range in self.trained.ranges() {
            gradients[range.clone()].iter_mut().for_each(|gradient| *gradient *= factor);
        }
    }
}

/// The sum of squares of the trained ones in a block.
fn block_square(cpu: &Cpu, trained: &Trained, gradients: &[f32], block: usize) -> f32 {
    let block = block * BLOCK..((block + 1) * BLOCK).min(gradients.len());
    let ranges = trained.ranges_in(block);
    ranges.map(|range| plain::square_sum(cpu.isa(), &gradients[range])).sum()
}

/// One step of some weights that follow one another, shared out to the threads.
fn update(
    cpu: &Cpu,
    step: rules::Step,
    (weights, gradients): (&mut [f32], &[f32]),
    [first, second]: [&mut [f32]; 2],
) {
    // Whole cache lines are shared out. What is left of the last one comes at the end.
    let lines = weights.len() / LINE;
    let whole = lines * LINE;
    let parts = cpu.parts(weights.len() * OPERATIONS, lines);
    let (weights, last_weights) = weights.split_at_mut(whole);
    let (first, last_first) = split_slot(first, whole);
    let (second, last_second) = split_slot(second, whole);
    let cut = |slice| Cut::new(slice, lines, parts);
    let memory = (cut(weights), cut_slot(first, lines, parts), cut_slot(second, lines, parts));
    cpu.each(parts, memory, |part, (weights, first, second)| {
        let lines = portion(lines, parts, part);
        cpu.run(rules::Update {
            step,
            weights,
            gradients: &gradients[lines.start * LINE..lines.end * LINE],
            slots: [first, second],
        });
    });
    cpu.run(rules::Update {
        step,
        weights: last_weights,
        gradients: &gradients[whole..],
        slots: [last_first, last_second],
    });
}

/// A slot in two, or nothing twice.
fn split_slot(slot: &mut [f32], at: usize) -> (&mut [f32], &mut [f32]) {
    slot.split_at_mut(at.min(slot.len()))
}

/// A slot cut like the weights, or nothing for each part.
fn cut_slot(slot: &mut [f32], lines: usize, parts: usize) -> Cut<'_, f32> {
    let units = if slot.is_empty() { 0 } else { lines };
    Cut::new(slot, units, parts)
}
