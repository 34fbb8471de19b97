//! The training loop, checkpoints and events.
