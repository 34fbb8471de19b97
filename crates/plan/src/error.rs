//! Why steps do not make a plan.

use thiserror::Error;

/// Why steps do not make a plan. Each names the step.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Two steps have one name.
    #[error("step `{step}`: two steps have this name; rename one")]
    Duplicate {
        /// The name.
        step: String,
    },
    /// A step needs one that is not there.
    #[error("step `{step}` needs `{need}`, which is no step of this file{suggestion}")]
    UnknownNeed {
        /// Who needs.
        step: String,
        /// What is needed.
        need: String,
        /// `; did you mean …?`, or which steps there are.
        suggestion: String,
    },
    /// A step needs the same one twice.
    #[error("step `{step}` needs `{need}` twice; name it once")]
    RepeatedNeed {
        /// Who needs.
        step: String,
        /// What is needed.
        need: String,
    },
    /// Steps wait for each other.
    #[error("steps wait for each other: {cycle}; take one of these needs away")]
    Cycle {
        /// `a → b → a`, each needing the next.
        cycle: String,
    },
    /// A step wants samples that the data does not have.
    #[error("step `{step}`: {problem}")]
    NoSamples {
        /// Who wants them.
        step: String,
        /// What is missing, and what would be right.
        problem: String,
    },
    /// A step lacks a need of some kind, has too many of it, or must not have it.
    #[error("step `{step}`: {problem}")]
    WrongNeeds {
        /// Who needs.
        step: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
}
