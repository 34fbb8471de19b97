//! The products of a convolution whose windows have gaps, or whose filters each see the channels of their group only.
//!
//! For each row of outputs, each group and each row of the window there is one product; its sums go on from one row of
//! the window to the next. Backward, weights have one for each pixel of the window.

use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::program::Conv;
use crate::simd::Isa;

impl Conv {
    /// Channels and filters of a group.
    fn group(&self) -> [usize; 2] {
        [self.window.input.channels / self.groups, self.window.output.channels / self.groups]
    }

    pub(super) fn grouped_rows(&self, (isa, weights): (Isa, &[f32]), x: &[f32], y: &mut [f32]) {
        for (row, y) in y.chunks_exact_mut(self.window.output.row()).enumerate() {
            for line in 0..self.window.height {
                self.grouped_row((isa, weights), x, (row, line), y);
            }
        }
    }

    /// What one row of the windows adds to a row of outputs.
    fn grouped_row(
        &self,
        (isa, weights): (Isa, &[f32]),
        x: &[f32],
        (row, line): (usize, usize),
        y: &mut [f32],
    ) {
        let (window, source) = (&self.window, self.window.source());
        let [channels, filters] = self.group();
        let kernel = &weights[self.kernel.clone()];
        let first = row * window.stride[0] + line * window.dilation[0];
        for group in 0..self.groups {
            let start = match (line, &self.bias) {
                (0, None) => Start::Zero,
                (0, Some(bias)) => Start::Bias(&weights[bias.clone()][group * filters..]),
                _ => Start::Result,
            };
            isa.run(Gemm {
                a: Windows {
                    data: &x[first * source.row() + group * channels..],
                    row: window.stride[1] * source.channels,
                    segments: window.width,
                    segment: window.dilation[1] * source.channels,
                    length: channels,
                    step: 1,
                },
                b: &kernel[(line * window.width * channels * self.groups + group) * filters..],
                b_row: window.output.channels,
                c: &mut y[group * filters..],
                c_row: window.output.channels,
                rows: window.output.width,
                columns: filters,
                start,
                relu: self.relu && line + 1 == window.height,
            });
        }
    }

    pub(super) fn grouped_weight_gradient(&self, isa: Isa, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        let (window, source, [channels, filters]) =
            (&self.window, self.window.source(), self.group());
        for (tap, dw) in dw.chunks_exact_mut(channels * window.output.channels).enumerate() {
            let [down, across] = [tap / window.width, tap % window.width];
            let first = down * window.dilation[0] * source.row()
                + across * window.dilation[1] * source.channels;
            for group in 0..self.groups {
                isa.run(Gemm {
                    a: Windows {
                        data: &x[first + group * channels..],
                        row: 1,
                        segments: window.output.height,
                        segment: window.stride[0] * source.row(),
                        length: window.output.width,
                        step: window.stride[1] * source.channels,
                    },
                    b: &dy[group * filters..],
                    b_row: window.output.channels,
                    c: &mut dw[group * filters..],
                    c_row: window.output.channels,
                    rows: channels,
                    columns: filters,
                    start: Start::Result,
                    relu: false,
                });
            }
        }
    }

    /// turned(group, kh, kw, filter, channel) = kernel(last − kh, last − kw, channel, filter), of each group.
    pub(super) fn turn_groups(&self, kernel: &[f32], turned: &mut [f32]) {
        let ([channels, filters], wide) = (self.group(), self.window.output.channels);
        let groups = turned.chunks_exact_mut(kernel.len() / self.groups);
        for (group, turned) in groups.enumerate() {
            let taps = turned.chunks_exact_mut(channels * filters);
            for (to, from) in taps.zip(kernel.chunks_exact(channels * wide).rev()) {
                for (channel, from) in from.chunks_exact(wide).enumerate() {
                    let from = &from[group * filters..][..filters];
                    for (filter, value) in from.iter().enumerate() {
                        to[filter * channels + channel] = *value;
                    }
                }
            }
        }
    }

    pub(super) fn grouped_input_gradient(
        &self,
        isa: Isa,
        turned: &[f32],
        frame: &[f32],
        dx: &mut [f32],
    ) {
        let (window, row, [channels, filters]) = (&self.window, self.frame().row(), self.group());
        let line_len = window.width * filters * channels;
        for (y, dx) in dx.chunks_exact_mut(window.input.row()).enumerate() {
            for (number, kernel) in turned.chunks_exact(line_len).enumerate() {
                let (group, line) = (number / window.height, number % window.height);
                isa.run(Gemm {
                    a: Windows {
                        data: &frame[(y + line * window.dilation[0]) * row + group * filters..],
                        row: window.output.channels,
                        segments: window.width,
                        segment: window.dilation[1] * window.output.channels,
                        length: filters,
                        step: 1,
                    },
                    b: kernel,
                    b_row: channels,
                    c: &mut dx[group * channels..],
                    c_row: window.input.channels,
                    rows: window.input.width,
                    columns: channels,
                    start: if line == 0 { Start::Zero } else { Start::Result },
                    relu: false,
                });
            }
        }
    }
}
