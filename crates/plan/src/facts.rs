//! What a plan must know beyond the run file. The caller finds it out; planning stays pure.

use std::collections::BTreeMap;

/// Facts by the id of the step they are about. What is not known is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Bytes of memory that a process of the step needs.
    pub memory: BTreeMap<String, u64>,
    /// Bytes of memory that a server of the step needs, where it has servers.
    pub server_memory: BTreeMap<String, u64>,
    /// How many threads a task's processes share where it does not say.
    pub threads: usize,
    /// What each `prepare` step will make ready.
    pub data: BTreeMap<String, DataFacts>,
    /// How many weights each `train` step's network has.
    pub weights: BTreeMap<String, u64>,
}

/// How much data there is, and of what shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFacts {
    /// Samples to train on, after validation was held out.
    pub train: u64,
    /// Samples held out for validation.
    pub validation: u64,
    /// Samples to test on.
    pub test: u64,
    /// The shape of one sample.
    pub shape: Vec<usize>,
    /// How many classes.
    pub classes: usize,
}
