//! Backward, group by group.
//!
//! Weights: for each pixel of the window, dW(channel, filter) += Σ x(pixel, channel)·dy(pixel, filter), a product with
//! transposed pixels, whose chains go on from sample to sample.
//!
//! Input: the convolution of dy, spread out by the strides inside a frame of zeros, with the kernel turned by half a
//! turn and its channels and filters exchanged. Its windows have the same gaps.

use super::super::conv::{Scratch, add_partials, chunks, copy_len, cut_scratch, padded, source};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::ops::{Run, disjoint};
use crate::program::{Grouped, Operation, Picture};
use crate::share::{Cut, portion};
use crate::simd::Isa;

impl Grouped {
    pub(super) fn backward_scratch(&self, input_gradient: bool) -> Scratch {
        let (turned, frame) =
            if input_gradient { (self.kernel.len(), self.frame().len()) } else { (0, 0) };
        Scratch { shared: turned, each: self.weights() + copy_len(&self.window) + frame }
    }

    /// Floats of the kernel's and the bias's gradients together.
    fn weights(&self) -> usize {
        self.kernel.len() + self.bias.as_ref().map_or(0, |bias| bias.len())
    }

    pub(crate) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let Some(dy) = operation.dy else { return };
        let (n, isa, window) = (run.n, run.cpu.isa(), &self.window);
        let (x_len, y_len, parts) = (window.input.len(), window.output.len(), chunks(n));
        let need = self.backward_scratch(operation.dx.is_some());
        let (turned, scratch) = cut_scratch(run.scratch, need, parts);
        self.turn_kernel(&run.weights[self.kernel.clone()], turned);
        let empty = operation.x.offset..operation.x.offset;
        let dx = operation.dx.map_or(empty, |dx| dx.range(n));
        let (x, y, dy) = (operation.x.range(n), operation.y.range(n), dy.range(n));
        let [x, y, dy, dx] = if self.relu {
            disjoint(run.values, [x, y, dy, dx])
        } else {
            let [x, dy, dx] = disjoint(run.values, [x, dy, dx]);
            [x, &mut [], dy, dx]
        };
        let (x, y, turned) = (&*x, &*y, &*turned);
        let memory = (Cut::new(dy, n, parts), Cut::new(dx, n, parts), scratch);
        run.cpu.each(parts, memory, |part, (dy, dx, scratch)| {
            let (partial, scratch) = scratch.split_at_mut(self.weights());
            let (copy, frame) = scratch.split_at_mut(copy_len(window));
            partial.fill(0.0);
            copy.fill(0.0);
            frame.fill(0.0);
            let mut dx = dx.chunks_exact_mut(x_len);
            for (sample, dy) in portion(n, parts, part).zip(dy.chunks_exact_mut(y_len)) {
                if self.relu {
                    plain::relu_backward(isa, &y[sample * y_len..][..y_len], dy);
                }
                let x = padded(window, &x[sample * x_len..][..x_len], copy);
                self.add_weight_gradient(isa, x, dy, partial);
                if let Some(dx) = dx.next() {
                    self.spread(dy, frame);
                    self.input_gradient(isa, turned, frame, dx);
                }
            }
        });
        self.finish(run, need, parts);
    }

    fn add_weight_gradient(&self, isa: Isa, x: &[f32], dy: &[f32], partial: &mut [f32]) {
        let (window, source) = (&self.window, source(&self.window));
        let (channels, filters) = (self.channels(), self.filters());
        let (kernel, bias) = partial.split_at_mut(self.kernel.len());
        for (tap, dw) in kernel.chunks_exact_mut(channels * window.output.channels).enumerate() {
            let [down, across] = [tap / window.width, tap % window.width];
            let first = down * self.dilation[0] * source.row()
                + across * self.dilation[1] * source.channels;
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
        if !bias.is_empty() {
            plain::add_rows(isa, dy, bias);
        }
    }

    /// Adds up the partial gradients.
    fn finish(&self, run: &mut Run<'_>, need: Scratch, parts: usize) {
        let partials = &run.scratch[need.shared..need.shared + parts * need.each];
        add_partials(run.cpu, partials, parts, 0, &mut run.gradients[self.kernel.clone()]);
        if let Some(bias) = &self.bias {
            let first = self.kernel.len();
            add_partials(run.cpu, partials, parts, first, &mut run.gradients[bias.clone()]);
        }
    }

    /// Pixels between the first and the last of a window, down and across.
    fn reach(&self) -> [usize; 2] {
        let window = &self.window;
        [(window.height - 1) * self.dilation[0], (window.width - 1) * self.dilation[1]]
    }

    /// The picture of zeros that dy is spread out in.
    fn frame(&self) -> Picture {
        let [down, across] = self.reach();
        Picture {
            height: self.window.input.height + down,
            width: self.window.input.width + across,
            channels: self.window.output.channels,
        }
    }

    /// Puts each pixel of dy where its window begins, seen from the window's last corner.
    fn spread(&self, dy: &[f32], frame: &mut [f32]) {
        let (window, [down, across]) = (&self.window, self.reach());
        let (row, filters) = (self.frame().row(), window.output.channels);
        let (down, across) = (down - window.before[0], across - window.before[1]);
        for (y, line) in dy.chunks_exact(window.output.row()).enumerate() {
            let to = &mut frame[(y * window.stride[0] + down) * row + across * filters..];
            for (x, pixel) in line.chunks_exact(filters).enumerate() {
                to[x * window.stride[1] * filters..][..filters].copy_from_slice(pixel);
            }
        }
    }

    /// turned(group, kh, kw, filter, channel) = kernel(last − kh, last − kw, channel, filter), of each group.
    fn turn_kernel(&self, kernel: &[f32], turned: &mut [f32]) {
        let (channels, filters, wide) =
            (self.channels(), self.filters(), self.window.output.channels);
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

    fn input_gradient(&self, isa: Isa, turned: &[f32], frame: &[f32], dx: &mut [f32]) {
        let (window, row) = (&self.window, self.frame().row());
        let (channels, filters) = (self.channels(), self.filters());
        let line_len = window.width * filters * channels;
        for (y, dx) in dx.chunks_exact_mut(window.input.row()).enumerate() {
            for (number, kernel) in turned.chunks_exact(line_len).enumerate() {
                let (group, line) = (number / window.height, number % window.height);
                isa.run(Gemm {
                    a: Windows {
                        data: &frame[(y + line * self.dilation[0]) * row + group * filters..],
                        row: window.output.channels,
                        segments: window.width,
                        segment: self.dilation[1] * window.output.channels,
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
