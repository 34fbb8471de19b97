//! A program with memory and a processor: it computes.

use std::ops::DerefMut;

use crate::arena::Arena;
use crate::cpu::Cpu;
use crate::kernels::plain;
use crate::ops::{Labels, Run};
use crate::optimizer::Optimizer;
use crate::program::Program;
use crate::share::{Cut, portion};
use spec::Clip;

/// The samples of a batch, one after another.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Bytes, which become floats times `scale`.
    Bytes {
        /// The bytes.
        x: &'a [u8],
        /// What each is multiplied by.
        scale: f32,
    },
    /// Floats as they are.
    Floats(&'a [f32]),
    /// Ids of words.
    Ids(&'a [u16]),
    /// Ids of words of a large vocabulary.
    WideIds(&'a [u32]),
}

/// A piece of a step's work; operations by their number in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Samples become floats.
    Input,
    /// An operation forward.
    Forward(usize),
    /// The loss.
    Head,
    /// An operation backward.
    Backward(usize),
}

/// Memory for floats, wherever it lies.
pub type Floats = Box<dyn DerefMut<Target = [f32]> + Send>;

/// What dropout is a function of, beside the layer and the element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// The run's seed.
    pub seed: u64,
    /// The logical worker.
    pub rank: u64,
    /// The step.
    pub step: u64,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The loss, summed over samples.
    pub loss: f64,
    /// Samples whose largest output was the right one; triplets in which the same person is nearer.
    pub correct: u32,
    /// Samples in the batch.
    pub samples: u32,
}

/// A program, its memory, and the processor it runs on. After `new` nothing is allocated.
pub struct Session {
    program: Program,
    cpu: Cpu,
    weights: Arena,
    gradients: Floats,
    values: Arena,
    choices: Vec<u8>,
    scratch: Arena,
}

impl Session {
    /// Allocates the program's memory. All weights are zero.
    pub fn new(program: Program, cpu: Cpu) -> Self {
        let gradients = program.gradients();
        Session {
            cpu,
            weights: Arena::new(program.weights),
            gradients: Box::new(Arena::new(gradients)),
            values: Arena::new(program.values),
            choices: vec![0; program.choices],
            scratch: Arena::new(program.scratch),
            program,
        }
    }

    /// What it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What it runs on.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// All weights, in the order of the graph.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// All weights, to be changed.
    pub fn weights_mut(&mut self) -> &mut [f32] {
        &mut self.weights
    }

    /// The gradients of the last batch, in the order of the weights.
    pub fn gradients(&self) -> &[f32] {
        let gradients = self.program.gradients();
        &self.gradients[..gradients]
    }

    /// The gradients, to be changed.
    pub fn gradients_mut(&mut self) -> &mut [f32] {
        let gradients = self.program.gradients();
        &mut self.gradients[..gradients]
    }

    /// Lets gradients go to other memory from now on, as where other processes can read them, and
    /// gives back what they went to before. Memory longer than the gradients keeps its rest.
    ///
    /// # Panics
    /// When it is shorter than the gradients.
    pub fn swap_gradients(&mut self, memory: &mut Floats) {
        let gradients = self.program.gradients();
        assert!(memory.len() >= gradients, "{} floats for {gradients} gradients", memory.len());
        std::mem::swap(&mut self.gradients, memory);
    }

    /// One batch forward and backward. Gradients are of the loss as reduced over the batch's samples,
    /// times `share`: what this batch counts among those of other workers, 1 for a worker alone. Where samples
    /// are triplets, there are three pictures for each label, and labels mean nothing.
    ///
    /// # Panics
    /// When the program only answers, when there are more samples than its batch, or when a label is
    /// not a class or an id not a word.
    pub fn gradient(
        &mut self,
        input: Input<'_>,
        labels: &[u32],
        noise: Noise,
        share: f32,
    ) -> Outcome {
        self.gradient_watched(input, labels, (noise, share), |_| {})
    }

    /// The same, and `watch` is called after every piece of work.
    ///
    /// # Panics
    /// As `gradient`.
    pub fn gradient_watched(
        &mut self,
        input: Input<'_>,
        labels: &[u32],
        (noise, share): (Noise, f32),
        mut watch: impl FnMut(Piece),
    ) -> Outcome {
        assert!(self.program.trains, "a program made by Program::training");
        if labels.is_empty() {
            self.gradients[..self.program.weights].fill(0.0);
            return Outcome::default();
        }
        let gradient = Some(share);
        let training = Some((noise, share));
        let pictures = labels.len() * self.program.pictures;
        let (program, mut run) = self.forward(input, pictures, training, &mut watch);
        let outcome = program.head.judge(&mut run, &Labels { labels, gradient });
        watch(Piece::Head);
        for (number, operation) in program.operations.iter().enumerate().rev() {
            operation.backward(&mut run);
            watch(Piece::Backward(number));
        }
        for range in &program.frozen {
            run.gradients[range.clone()].fill(0.0);
        }
        outcome
    }

    /// One batch forward only, without dropout.
    ///
    /// # Panics
    /// When there are more samples than the program's batch, or when a label is not a class or an id
    /// not a word.
    pub fn evaluate(&mut self, input: Input<'_>, labels: &[u32]) -> Outcome {
        let gradient = None;
        let pictures = labels.len() * self.program.pictures;
        let (program, mut run) = self.forward(input, pictures, None, &mut |_| {});
        program.head.judge(&mut run, &Labels { labels, gradient })
    }

    /// The answers to `n` samples, one after another.
    ///
    /// # Panics
    /// When there are more samples than the program's batch, or when an id is not a word.
    pub fn predict(&mut self, input: Input<'_>, n: usize) -> &[f32] {
        let (program, mut run) = self.forward(input, n, None, &mut |_| {});
        program.head.answer(&mut run);
        &self.values[self.program.head.y.range(n)]
    }

    /// Changes the weights by the gradients.
    pub fn update(&mut self, optimizer: &mut Optimizer, rate: f32, clip: Option<Clip>) {
        let gradients = &self.gradients[..self.program.weights];
        optimizer.apply(&self.cpu, &mut self.weights, gradients, rate, clip);
    }

    /// Changes the weights by gradients from elsewhere: the sum over workers, say.
    ///
    /// # Panics
    /// When there is not one for each weight.
    pub fn update_by(
        &mut self,
        gradients: &[f32],
        optimizer: &mut Optimizer,
        rate: f32,
        clip: Option<Clip>,
    ) {
        optimizer.apply(&self.cpu, &mut self.weights, gradients, rate, clip);
    }

    /// Runs the operations. The head is next.
    fn forward(
        &mut self,
        input: Input<'_>,
        n: usize,
        training: Option<(Noise, f32)>,
        watch: &mut impl FnMut(Piece),
    ) -> (&Program, Run<'_>) {
        let program = &self.program;
        assert!(n <= program.batch, "{n} samples in a batch of {}", program.batch);
        let to = &mut self.values[program.input.range(n)];
        match input {
            Input::Bytes { x, scale } => {
                assert_eq!(x.len(), to.len(), "bytes of {n} samples");
                let parts = self.cpu.parts(8 * x.len(), n).min(self.cpu.threads());
                self.cpu.each(parts, Cut::new(to, n, parts), |part, to| {
                    let first = portion(n, parts, part).start * program.sample;
                    plain::scale_bytes(self.cpu.isa(), &x[first..], scale, to);
                });
            }
            Input::Floats(x) => {
                assert_eq!(x.len(), to.len(), "floats of {n} samples");
                to.copy_from_slice(x);
            }
            Input::Ids(x) => {
                assert_eq!(x.len(), to.len(), "ids of {n} samples");
                to.iter_mut().zip(x).for_each(|(to, id)| *to = f32::from(*id));
            }
            Input::WideIds(x) => {
                assert_eq!(x.len(), to.len(), "ids of {n} samples");
                to.iter_mut().zip(x).for_each(|(to, id)| *to = *id as f32);
            }
        }
        if let Some(words) = program.vocabulary {
            assert!(plain::are_ids(self.cpu.isa(), to, words as f32), "ids below {words}");
        }
        let mut run = Run {
            cpu: &self.cpu,
            n,
            weights: &self.weights,
            gradients: &mut self.gradients,
            values: &mut self.values,
            choices: &mut self.choices,
            scratch: &mut self.scratch,
            noise: training.map(|(noise, _)| noise),
            share: training.map_or(1.0, |(_, share)| share),
        };
        if n > 0 {
            watch(Piece::Input);
            for (number, operation) in program.operations.iter().enumerate() {
                operation.forward(&mut run);
                watch(Piece::Forward(number));
            }
        }
        (program, run)
    }
}
