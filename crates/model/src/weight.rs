//! The weights of a network: where each lies in the flat arena, and how it starts.

use std::ops::Range;

use spec::Initializer;

/// One weight tensor. All of a network's weights lie in one `[f32]`, in the order of the layers and
/// within a layer in Keras' order, each in Keras' layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight {
    /// `conv2d/kernel`.
    pub name: String,
    /// `[3, 3, 1, 32]`.
    pub shape: Vec<usize>,
    /// Whether training changes it, and how.
    pub kind: Kind,
    /// How it starts.
    pub initializer: Initializer,
    /// Its place in the arena.
    pub range: Range<usize>,
}

/// Who changes a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The optimizer, by its gradient.
    Trained,
    /// The layer itself: a running mean of what it has seen in training.
    Moving,
    /// Nobody: its layer is frozen.
    Frozen,
}
