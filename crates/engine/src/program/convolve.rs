//! What convolutions become. Those of single pixels are products, and those with a window for each channel operations
//! of their own.

use model::Weight;
use spec::{Padding, Pair};

use super::layers::{Site, picture};
use super::lower::Lowering;
use super::sizes::Sizes;
use super::{Conv, Depthwise, Op, Picture, Pool};

impl Lowering {
    /// Adds a convolution; in a causal one no window sees what comes later.
    pub(super) fn conv(
        &mut self,
        site: &Site<'_>,
        reads: Vec<usize>,
        (conv, causal): (&spec::Conv2D, bool),
    ) -> usize {
        let sizes = Sizes::new(conv.kernel_size, conv.strides, conv.padding);
        let sizes = Sizes { causal, ..sizes.apart(conv.dilation_rate) };
        let value = match conv.groups {
            1 if sizes.window == Pair::square(1) => self.pointwise(site, reads, conv.strides),
            groups if groups > 1 && groups == picture(site.inputs[0]).channels => {
                self.by_channel(site, reads, sizes, site.weights.get(1))
            }
            groups => self.push(site.conv(sizes, groups), reads, site.shape),
        };
        self.activate(conv.activation, value, site.shape)
    }

    /// Adds a convolution of single pixels. Where some are passed by, the others are picked first: as the
    /// largest of windows that have one pixel each.
    fn pointwise(&mut self, site: &Site<'_>, mut reads: Vec<usize>, strides: Pair) -> usize {
        if strides != Pair::square(1) {
            let input = picture(site.inputs[0]);
            let output = Picture { channels: input.channels, ..picture(site.shape) };
            let window = Sizes::new(Pair::square(1), strides, Padding::Valid).window(input, output);
            reads = vec![self.push(Op::Pool(Pool { window }), reads, &output.shape())];
        }
        let op = site.pointwise(&site.weights[0], site.weights.get(1));
        self.push(op, reads, site.shape)
    }

    /// Adds windows for each channel, of the layer's first weight; where a channel has several, it is there several
    /// times first.
    pub(super) fn by_channel(
        &mut self,
        site: &Site<'_>,
        mut reads: Vec<usize>,
        sizes: Sizes,
        bias: Option<&Weight>,
    ) -> usize {
        let input = picture(site.inputs[0]);
        let kernel = &site.weights[0].range;
        let channels = kernel.len() / (sizes.window.height * sizes.window.width);
        let output = Picture { channels, ..picture(site.shape) };
        let times = channels / input.channels;
        let input = Picture { channels, ..input };
        if times > 1 {
            reads = vec![self.push(Op::Repeat(times), reads, &input.shape())];
        }
        let op = Op::Depthwise(Depthwise {
            window: sizes.window(input, output),
            kernel: kernel.clone(),
            bias: bias.map(|bias| bias.range.clone()),
        });
        self.push(op, reads, &output.shape())
    }
}

impl Site<'_> {
    fn conv(&self, sizes: Sizes, groups: usize) -> Op {
        Op::Conv(Conv {
            window: sizes.window(picture(self.inputs[0]), picture(self.shape)),
            groups,
            kernel: self.weights[0].range.clone(),
            bias: self.weights.get(1).map(|bias| bias.range.clone()),
            relu: false,
            choices: None,
        })
    }
}
