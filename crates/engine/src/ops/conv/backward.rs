//! Backward, when every output counts.
//!
//! Weights: for each row of the window, dW(r, filter) += Σ x(pixel, r)·dy(pixel, filter), where the
//! numbers r of a window's row are contiguous in x: a product with transposed windows, whose chains go
//! on from sample to sample.
//!
//! Input: the convolution of dy, spread out by the strides inside a frame of zeros, with the kernel
//! turned by half a turn and its channels and filters exchanged.

use super::{Scratch, cut_scratch, padded};
use crate::kernels::gemm::{Gemm, Start, Windows};
use crate::kernels::plain;
use crate::ops::partials::{chunks, finish};
use crate::ops::{Run, backward_values};
use crate::program::{Conv, Operation, Picture};
use crate::share::{Cut, portion};
use crate::simd::Isa;

impl Conv {
    pub(super) fn backward_scratch(&self, input_gradient: bool) -> Scratch {
        let (turned, frame) =
            if input_gradient { (self.kernel.len(), self.frame().len()) } else { (0, 0) };
        Scratch { shared: turned, each: self.weights() + self.window.copy_len() + frame }
    }

    pub(crate) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        if self.choices.is_some() {
            return self.pooled_backward(operation, run);
        }
        let Some(dy) = operation.dy else { return };
        let (n, isa, window) = (run.n, run.cpu.isa(), &self.window);
        let parts = chunks(n);
        let need = self.backward_scratch(operation.dx.is_some());
        let (turned, scratch) = cut_scratch(run.scratch, need, parts);
        self.turn_kernel(&run.weights[self.kernel.clone()], turned);
        let [x, y, dy, dx] = backward_values(operation, dy, (run.values, n), self.relu);
        let (x, y, turned) = (&*x, &*y, &*turned);
        let (x_len, y_len) = (window.input.len(), window.output.len());
        let memory = (Cut::new(dy, n, parts), Cut::new(dx, n, parts), scratch);
        run.cpu.each(parts, memory, |part, (dy, dx, scratch)| {
            let (partial, scratch) = scratch.split_at_mut(self.weights());
            let (copy, frame) = scratch.split_at_mut(self.window.copy_len());
            partial.fill(0.0);
            copy.fill(0.0);
            frame.fill(0.0);
            let mut dx = dx.chunks_exact_mut(x_len);
            for (sample, dy) in portion(n, parts, part).zip(dy.chunks_exact_mut(y_len)) {
                if self.relu {
                    plain::relu_backward(isa, &y[sample * y_len..][..y_len], dy);
                }
                let x = padded(window, &x[sample * x_len..][..x_len], copy);
                let (dw, db) = partial.split_at_mut(self.kernel.len());
                self.add_weight_gradient(isa, x, dy, dw);
                if !db.is_empty() {
                    plain::add_rows(isa, dy, db);
                }
                if let Some(dx) = dx.next() {
                    self.spread(dy, frame);
                    self.input_gradient(isa, turned, frame, dx);
                }
            }
        });
        finish(run, (&self.kernel, self.bias.as_ref()), need.shared, (parts, need.each));
    }

    fn add_weight_gradient(&self, isa: Isa, x: &[f32], dy: &[f32], dw: &mut [f32]) {
        if !self.is_plain() {
            return self.grouped_weight_gradient(isa, x, dy, dw);
        }
        let (window, filters) = (&self.window, self.filters());
        let source = window.source();
        for (line, dw) in dw.chunks_exact_mut(window.row() * filters).enumerate() {
            isa.run(Gemm {
                a: Windows {
                    data: &x[line * source.row()..],
                    row: 1,
                    segments: window.output.height,
                    segment: window.stride[0] * source.row(),
                    length: window.output.width,
                    step: window.stride[1] * source.channels,
                },
                b: dy,
                b_row: filters,
                c: dw,
                c_row: filters,
                rows: window.row(),
                columns: filters,
                start: Start::Result,
                relu: false,
            });
        }
    }

    /// The picture of zeros that dy is spread out in.
    pub(super) fn frame(&self) -> Picture {
        let [down, across] = self.window.reach();
        Picture {
            height: self.window.input.height + down,
            width: self.window.input.width + across,
            channels: self.filters(),
        }
    }

    /// Puts each pixel of dy where its window begins, seen from the window's last corner.
    fn spread(&self, dy: &[f32], frame: &mut [f32]) {
        let (window, filters) = (&self.window, self.filters());
        let (row, [down, across]) = (self.frame().row(), window.reach());
        let [down, across] = [down - window.before[0], across - window.before[1]];
        for (y, line) in dy.chunks_exact(window.output.row()).enumerate() {
            let to = &mut frame[(y * window.stride[0] + down) * row + across * filters..];
            if window.stride[1] == 1 {
                to[..line.len()].copy_from_slice(line);
                continue;
            }
            for (x, pixel) in line.chunks_exact(filters).enumerate() {
                to[x * window.stride[1] * filters..][..filters].copy_from_slice(pixel);
            }
        }
    }

    /// turned(kh, kw, filter, channel) = kernel(last − kh, last − kw, channel, filter).
    fn turn_kernel(&self, kernel: &[f32], turned: &mut [f32]) {
        if !self.is_plain() {
            return self.turn_groups(kernel, turned);
        }
        let (channels, filters) = (self.window.input.channels, self.filters());
        let taps = turned.chunks_exact_mut(channels * filters);
        for (to, from) in taps.zip(kernel.chunks_exact(channels * filters).rev()) {
            plain::transpose(from, channels, filters, to);
        }
    }

    fn input_gradient(&self, isa: Isa, turned: &[f32], frame: &[f32], dx: &mut [f32]) {
        if !self.is_plain() {
            return self.grouped_input_gradient(isa, turned, frame, dx);
        }
        let (window, row) = (&self.window, self.frame().row());
        let channels = window.input.channels;
        for (y, dx) in dx.chunks_exact_mut(window.input.row()).enumerate() {
            isa.run(Gemm {
                a: Windows {
                    data: &frame[y * row..],
                    row: self.filters(),
                    segments: window.height,
                    segment: row,
                    length: window.width * self.filters(),
                    step: 1,
                },
                b: turned,
                b_row: channels,
                c: dx,
                c_row: channels,
                rows: window.input.width,
                columns: channels,
                start: Start::Zero,
                relu: false,
            });
        }
    }
}
