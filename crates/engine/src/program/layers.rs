//! What each layer becomes: one operation, or a few.

use model::{Graph, Weight};
use spec::{Layer, Padding, Padding1D, Pair};

use super::lower::Lowering;
use super::sizes::Sizes;
use super::{
    Augment, Average, Dense, Drop, Embed, LayerNormalize, Normalize, Op, Picture, Place, Pool,
    Recurrent, Scale, Turn, Window,
};

/// A layer to be lowered.
pub(super) struct Site<'a> {
    layer: &'a Layer,
    number: usize,
    pub(super) weights: &'a [Weight],
    /// The shapes of what it reads.
    pub(super) inputs: Vec<&'a [usize]>,
    /// The shape of its output.
    pub(super) shape: &'a [usize],
}

impl Lowering {
    /// Adds what a layer computes. Its value.
    pub(super) fn node(&mut self, graph: &Graph, number: usize, reads: Vec<usize>) -> usize {
        let node = &graph.nodes()[number];
        let inputs = node.inputs.iter().map(|&input| graph.shape(input)).collect();
        let (weights, shape) = (graph.weights_of(number), graph.shape(number));
        let site = Site { layer: &node.layer, number, weights, inputs, shape };
        match site.layer {
            Layer::Input(_) => self.value(shape.iter().product()),
            Layer::Flatten(_) | Layer::Reshape(_) => reads[0],
            Layer::Dropout(dropout) if dropout.rate == 0.0 => reads[0],
            Layer::Activation(layer) => self.activate(layer.activation, reads[0], shape),
            Layer::Dense(dense) => {
                let value = self.push(site.pointwise(&weights[0], weights.get(1)), reads, shape);
                self.activate(dense.activation, value, shape)
            }
            Layer::Conv2D(conv) => self.conv(&site, reads, (conv, false)),
            Layer::Conv1D(conv) => {
                let causal = conv.padding == Padding1D::Causal;
                self.conv(&site, reads, (&conv.over_row(), causal))
            }
            Layer::DepthwiseConv2D(conv) => {
                let sizes = Sizes::new(conv.kernel_size, conv.strides, conv.padding);
                let sizes = sizes.apart(conv.dilation_rate);
                let value = self.by_channel(&site, reads, sizes, weights.get(1));
                self.activate(conv.activation, value, shape)
            }
            Layer::SeparableConv2D(conv) => {
                let sizes = Sizes::new(conv.kernel_size, conv.strides, conv.padding);
                let sizes = sizes.apart(conv.dilation_rate);
                let between = self.by_channel(&site, reads, sizes, None);
                let value =
                    self.push(site.pointwise(&weights[1], weights.get(2)), vec![between], shape);
                self.activate(conv.activation, value, shape)
            }
            Layer::MaxPooling1D(pool) => {
                self.pool(site.pool_window(&pool.over_row()), reads[0], shape)
            }
            Layer::MaxPooling2D(pool) => self.pool(site.pool_window(pool), reads[0], shape),
            Layer::Gru(gru) => {
                self.recurrent(graph, &site, reads, (&spec::Recurrent::Gru(gru.clone()), None))
            }
            Layer::Lstm(lstm) => {
                self.recurrent(graph, &site, reads, (&spec::Recurrent::Lstm(lstm.clone()), None))
            }
            Layer::Bidirectional(both) => {
                self.recurrent(graph, &site, reads, (&both.layer, Some(both.merge_mode)))
            }
            _ => self.push(site.op(), reads, shape),
        }
    }

    /// Adds a recurrent layer, which reads the ids too where some are to be passed by.
    fn recurrent(
        &mut self,
        graph: &Graph,
        site: &Site<'_>,
        mut reads: Vec<usize>,
        layer: (&spec::Recurrent, Option<spec::MergeMode>),
    ) -> usize {
        let masked = graph.is_masked(graph.nodes()[site.number].inputs[0]);
        let input = site.inputs[0];
        let op = Recurrent::new(layer, (input[0], input[1]), site.weights, masked);
        // Ids are the network's input, and so its first value.
        reads.extend(masked.then_some(0));
        self.push(Op::Recurrent(op), reads, site.shape)
    }
}

impl Site<'_> {
    /// Of a layer that becomes one operation and nothing else.
    fn op(&self) -> Op {
        match self.layer {
            Layer::GlobalMaxPooling2D(_) | Layer::GlobalMaxPooling1D(_) => {
                Op::Pool(Pool { window: self.whole() })
            }
            Layer::AveragePooling2D(pool) => {
                Op::Average(Average { window: self.pool_window(pool) })
            }
            Layer::AveragePooling1D(pool) => {
                Op::Average(Average { window: self.pool_window(&pool.over_row()) })
            }
            Layer::GlobalAveragePooling2D(_) | Layer::GlobalAveragePooling1D(_) => {
                Op::Average(Average { window: self.whole() })
            }
            Layer::BatchNormalization(layer) => self.normalize(layer),
            Layer::LayerNormalization(layer) => self.layer_normalize(layer),
            Layer::UnitNormalization(_) => Op::Unit(last(self.shape)),
            Layer::Rescaling(layer) => {
                Op::Scale(Scale { scale: layer.scale, offset: layer.offset })
            }
            Layer::RandomFlip(layer) => self.augment(Turn::Flip(layer.mode)),
            Layer::RandomRotation(layer) => {
                self.augment(Turn::Rotate { factor: layer.factor, fill: layer.fill_mode })
            }
            Layer::RandomTranslation(layer) => self.augment(Turn::Shift {
                factors: [layer.height_factor, layer.width_factor],
                fill: layer.fill_mode,
            }),
            Layer::ZeroPadding2D(layer) => self.pad(layer),
            Layer::Dropout(layer) => Op::Drop(Drop { layer: self.number as u64, rate: layer.rate }),
            Layer::Add(_) => Op::Add,
            Layer::Concatenate(_) => {
                Op::Concatenate(self.inputs.iter().map(|shape| last(shape)).collect())
            }
            Layer::Embedding(_) => self.embed(),
            other => unreachable!("a layer of several operations, or none: {other:?}"),
        }
    }

    fn embed(&self) -> Op {
        let table = &self.weights[0];
        let (words, row) = (table.shape[0], table.shape[1]);
        Op::Embed(Embed { words, row, table: table.range.clone() })
    }

    /// Weighted sums over channels, of each pixel.
    pub(super) fn pointwise(&self, kernel: &Weight, bias: Option<&Weight>) -> Op {
        let &[.., inputs, units] = &kernel.shape[..] else {
            unreachable!("a kernel has inputs and outputs: {:?}", kernel.shape);
        };
        Op::Dense(Dense {
            rows: self.shape.iter().product::<usize>() / units,
            inputs,
            units,
            kernel: kernel.range.clone(),
            bias: bias.map(|bias| bias.range.clone()),
            relu: false,
        })
    }

    fn normalize(&self, layer: &spec::BatchNormalization) -> Op {
        // In the order in which the model has them.
        let mut weights = self.weights.iter().map(|weight| weight.range.clone());
        let mut next = |is_there: bool| if is_there { weights.next() } else { None };
        let channels = last(self.shape);
        Op::Normalize(Normalize {
            channels,
            gamma: next(layer.scale),
            beta: next(layer.center),
            mean: next(true).unwrap_or_default(),
            variance: next(true).unwrap_or_default(),
            momentum: layer.momentum,
            epsilon: layer.epsilon,
            frozen: !layer.trainable,
            relu: false,
            seen: Place { offset: 0, len: 2 * channels },
        })
    }

    fn layer_normalize(&self, layer: &spec::LayerNormalization) -> Op {
        let mut weights = self.weights.iter().map(|weight| weight.range.clone());
        let mut next = |is_there: bool| if is_there { weights.next() } else { None };
        let (gamma, beta) = (next(layer.scale), next(layer.center));
        Op::LayerNormalize(LayerNormalize {
            row: last(self.shape),
            gamma,
            beta,
            epsilon: layer.epsilon,
        })
    }

    fn augment(&self, turn: Turn) -> Op {
        Op::Augment(Augment { layer: self.number as u64, picture: picture(self.shape), turn })
    }

    fn pad(&self, layer: &spec::ZeroPadding2D) -> Op {
        let spec::Sides { top, bottom, left, right } = layer.padding;
        let input = picture(self.inputs[0]);
        let one = Sizes::new(Pair::square(1), Pair::square(1), Padding::Valid);
        let (before, after) = ([top, left], [bottom, right]);
        Op::Pad(Window { before, after, ..one.window(input, input) })
    }

    fn pool_window(&self, pool: &spec::Pooling2D) -> Window {
        let strides = pool.strides.unwrap_or(pool.pool_size);
        let sizes = Sizes::new(pool.pool_size, strides, pool.padding);
        sizes.window(picture(self.inputs[0]), picture(self.shape))
    }

    /// One window over all of the picture.
    fn whole(&self) -> Window {
        let input = picture(self.inputs[0]);
        let size = Pair { height: input.height, width: input.width };
        let output = Picture { height: 1, width: 1, ..input };
        Sizes::new(size, size, Padding::Valid).window(input, output)
    }
}

/// The length of the last axis.
pub(super) fn last(shape: &[usize]) -> usize {
    shape[shape.len() - 1]
}

/// A sequence is a picture of one row.
pub(super) fn picture(shape: &[usize]) -> Picture {
    let (height, width, channels) = match *shape {
        [height, width, channels] => (height, width, channels),
        [steps, features] => (1, steps, features),
        _ => unreachable!("the graph has checked that this is a picture: {shape:?}"),
    };
    Picture { height, width, channels }
}
