//! The inner loops. Each is compiled once for every instruction set and gives the same bits on all.

pub(crate) mod average;
pub(crate) mod block;
pub(crate) mod curves;
pub(crate) mod depthwise;
pub(crate) mod exercise;
pub(crate) mod gates;
pub(crate) mod gemm;
pub(crate) mod humps;
pub(crate) mod largest;
pub(crate) mod layer_normalize;
pub(crate) mod normalize;
pub(crate) mod plain;
pub(crate) mod pooled;
pub(crate) mod softmax;
pub(crate) mod sparse;
pub(crate) mod strips;
pub(crate) mod taps;
pub(crate) mod unit;
pub(crate) mod vectors;
pub(crate) mod walk;
