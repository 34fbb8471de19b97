//! How a network computes: a static program over flat memory.
//!
//! A [`model::Graph`] and a batch size are compiled into a [`Program`]: a list of operations, and the
//! place of every value. A [`Session`] gives it memory and a [`Cpu`], and computes answers, losses and
//! gradients; an [`Optimizer`] changes the weights.
//!
//! Invariants:
//! - The same bits for any number of threads and on every instruction set ([`Isa`]). What is summed in
//!   which order follows from shapes alone.
//! - A session allocates when it is made, exactly what [`Program::memory`] says, and never after.
//! - `unsafe` is in the vector types, the pool, and the one matrix kernel, behind safe functions.

mod arena;
mod cpu;
mod error;
mod jury;
mod kernels;
mod math;
mod ops;
mod optimizer;
mod pool;
mod program;
mod session;
mod share;
mod simd;

pub use arena::Arena;
pub use cpu::Cpu;
pub use error::EngineError;
pub use jury::{Jury, to_length_one};
pub use ops::cross_entropy;
pub use optimizer::{Optimizer, Trained};
pub use program::{Labor, Memory, Program};
pub use session::{Floats, Input, Noise, Outcome, Piece, Session};
pub use simd::Isa;
pub use spec::Clip;
