//! What is known of a dataset before it is loaded, and what it is afterwards.

use preprocess::Form;
use spec::Assign;

use crate::samples::Samples;
use crate::skipped::Skipped;

/// What can be said of a dataset without loading or downloading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Its name or path.
    pub name: String,
    /// Samples to train on, those held out for validation already taken away.
    pub train: usize,
    /// Samples held out for validation.
    pub validation: usize,
    /// Samples to test on; 0 when the source has none.
    pub test: usize,
    /// The shape of one sample.
    pub shape: Vec<usize>,
    /// How many classes there are.
    pub classes: usize,
    /// What the classes are called.
    pub labels: Vec<String>,
    /// Bytes of one value in memory: 1, 2 or 4.
    pub width: usize,
    /// Where samples are ids of words: these are below.
    pub vocabulary: Option<usize>,
    /// Which of the samples to train on each worker sees.
    pub assign: Assign,
    /// Bytes of memory that preparing takes beside the samples, at about the most.
    pub working: u64,
}

/// A dataset in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// What to train on.
    pub train: Samples,
    /// What was held out of the training samples.
    pub validation: Option<Samples>,
    /// What to test on, where the source has it.
    pub test: Option<Samples>,
    /// What the classes are called.
    pub labels: Vec<String>,
    /// What samples were made from, and how.
    pub form: Form,
    /// Files that could not be decoded, and were left out.
    pub skipped: Skipped,
}

/// A source, loaded, nothing held out yet.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) train: Samples,
    /// What the source itself has to validate on.
    pub(crate) validation: Option<Samples>,
    pub(crate) test: Option<Samples>,
    pub(crate) labels: Vec<String>,
    pub(crate) form: Form,
    pub(crate) skipped: Skipped,
}

impl Raw {
    /// Samples that are numbers and have no more to them. Classes are named later.
    pub(crate) fn numbers((train, test): (Samples, Option<Samples>)) -> Raw {
        Raw {
            train,
            validation: None,
            test,
            labels: Vec::new(),
            form: Form::Numbers,
            skipped: Skipped::default(),
        }
    }
}

impl Facts {
    /// Bytes of memory so many samples take.
    pub fn memory(&self, samples: usize) -> u64 {
        samples as u64 * (self.row_bytes() + 4) as u64
    }

    /// Bytes of one sample's values.
    pub fn row_bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.width
    }
}

/// What a source says of itself, nothing held out yet.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) train: usize,
    pub(crate) validation: usize,
    pub(crate) test: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) classes: usize,
    /// What the classes are called, where the source says so.
    pub(crate) labels: Vec<String>,
    /// Bytes of one value.
    pub(crate) width: usize,
    /// Where samples are ids of words: these are below.
    pub(crate) vocabulary: Option<usize>,
    /// Bytes that loading takes beside the samples.
    pub(crate) working: u64,
}
