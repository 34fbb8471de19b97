//! Texts and pictures become the numbers of a sample, the same in training and serving.
//!
//! A [`Form`] says how, and travels in the model's card. [`Encoder`] turns a text into ids of words,
//! [`Pixels::sample`] the bytes of an image file into pixels, [`digit`] any picture of a digit into a sample
//! as MNIST has them. Nothing here reads files or knows what a
//! dataset is.

mod digit;
mod form;
mod image;
mod text;
mod vocabulary;

pub use digit::digit;
pub use form::{Form, Pixels, Text};
pub use image::Picture;
pub use text::{Encoder, words};
pub use vocabulary::{Tally, too_large};
