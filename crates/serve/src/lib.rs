//! A model behind HTTP: questions, answers, and a page for people.
//!
//! A request's body waits in a bounded queue. A processor takes what waits as one batch: it reads the bodies
//! ([`Asked`]), makes samples as the model's card says ([`Reader`]), computes, and answers. So the threads that speak
//! HTTP never compute, and never wait for each other.
//!
//! Invariants:
//! - What is served never changes: another model is another [`Served`], and who asked before it came is answered by
//!   the one before.
//! - Everything from outside has a bound ([`Limits`]), and is told in a sentence what is wrong ([`Problem`]).
//! - Nothing that was sent is kept.

mod about;
mod answer;
mod app;
mod asked;
mod examples;
mod gallery;
mod guard;
mod kind;
mod limits;
mod metrics;
mod openapi;
mod problem;
mod queue;
mod reader;
mod routes;
mod served;
mod server;
mod worker;

pub use about::{About, Input, LayerFacts};
pub use answer::Answers;
pub use asked::{Asked, Nested};
pub use examples::{Example, Examples};
pub use gallery::{Gallery, Near};
pub use guard::{Guard, Token};
pub use kind::Kind;
pub use limits::{Gather, Limits};
pub use problem::Problem;
pub use reader::{Read, Reader, Word};
pub use routes::{ROUTES, Route};
pub use served::{Combine, Served};
pub use server::{Order, Server, Settings};
