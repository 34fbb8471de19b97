//! Where datasets, checkpoints and models live.
