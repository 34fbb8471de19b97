//! The run file: types, defaults, checks, schema. Pure: nothing here reads a file or a clock.
//!
//! [`parse`] turns a text into a [`RunSpec`] in four steps: YAML becomes a tree that knows where
//! everything was written (`tree`), `--set` changes it (`set`), the schema reads it (`rule`,
//! `read`, `choice`, `scalar`), and what was read is resolved and checked (`resolve`, `check`).
//! The schema is derived from the types of `file`, so that reader, JSON Schema and reference
//! cannot disagree.

mod check;
mod choice;
mod convolution;
mod data;
mod error;
mod evaluate;
mod file;
mod freeze;
mod layer;
mod nearest;
mod network;
mod normalization;
mod objective;
mod on;
mod parse;
mod picture;
mod quantity;
mod rate;
mod read;
mod reference;
mod resolve;
mod rule;
mod run;
mod scalar;
mod schema;
mod sequence;
mod serve;
mod serve_check;
mod set;
mod signal;
mod strategy;
mod strategy_check;
mod strategy_form;
mod train;
mod train_form;
mod tree;
mod words;

pub use convolution::{
    Conv2D, DepthwiseConv2D, GlobalPooling2D, Padding, Pair, Pooling2D, SeparableConv2D,
};
pub use data::{Assign, BUILTIN_DATA, Color, Data, Holdout, Prepare};
pub use error::{Problem, SpecError};
pub use evaluate::{Evaluate, Split};
pub use freeze::Freeze;
pub use layer::{
    Activation, ActivationLayer, Add, Concatenate, Dense, Dropout, Flatten, Initializer, Input,
    Layer, Reshape,
};
pub use nearest::nearest;
pub use network::{Builtin, Model};
pub use normalization::{BatchNormalization, LayerNormalization, UnitNormalization};
pub use objective::{Adam, Adamw, Loss, LossName, Optimizer, Reduction, Rmsprop, Sgd};
pub use on::{
    Amounts, Kubernetes, Labels, NewClaim, NodeSelector, On, Pod, Pods, Service, Storage,
};
pub use parse::parse;
pub use picture::{
    Fill, Flip, RandomFlip, RandomRotation, RandomTranslation, Rescaling, Sides, ZeroPadding2D,
};
pub use quantity::{Bytes, Duration, QuantityError};
pub use rate::Rate;
pub use reference::reference;
pub use run::{Action, RunSpec, Step, yaml};
pub use schema::schema;
pub use sequence::{Bidirectional, Embedding, Gru, Lstm, MergeMode, Recurrent};
pub use serve::{Serve, Together};
pub use signal::{Conv1D, GlobalPooling1D, Padding1D, Pooling1D};
pub use strategy::{Average, Combine, Mode, Outer, ParameterServer, Strategy, Sync};
pub use train::{Checkpoint, Clip, EarlyStop, Length, Monitor, Schedule, Train};
pub use tree::FILE_LIMIT;
