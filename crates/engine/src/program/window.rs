//! How windows lie over pictures, and which pixels and outputs have to do with each other.

use std::ops::Range;

/// How windows lie over a picture. Height and width count the pixels that a window has; padding is for windows with
/// the gaps between these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) input: Picture,
    pub(crate) output: Picture,
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Down and across.
    pub(crate) stride: [usize; 2],
    /// How far apart the pixels of a window are, down and across.
    pub(crate) dilation: [usize; 2],
    /// Rows above and columns to the left that are thought to be there.
    pub(crate) before: [usize; 2],
    /// The same below and to the right.
    pub(crate) after: [usize; 2],
}

/// The size of a picture, channels last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
}

impl Picture {
    /// Floats of the picture.
    pub(crate) fn len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Height, width, channels.
    pub(crate) fn shape(&self) -> [usize; 3] {
        [self.height, self.width, self.channels]
    }

    /// Floats of one row of pixels.
    pub(crate) fn row(&self) -> usize {
        self.width * self.channels
    }
}

impl Window {
    /// Whether windows reach over the picture's edges.
    pub(crate) fn is_padded(&self) -> bool {
        self.before != [0, 0] || self.after != [0, 0]
    }

    /// Whether the pixels of a window touch.
    pub(crate) fn touches(&self) -> bool {
        self.dilation == [1, 1]
    }

    /// Pixels from the first to the last of a window, down and across.
    pub(crate) fn reach(&self) -> [usize; 2] {
        [(self.height - 1) * self.dilation[0], (self.width - 1) * self.dilation[1]]
    }

    /// The picture that windows slide over: the input, or its copy inside zeros.
    pub(crate) fn source(&self) -> Picture {
        if self.is_padded() { self.padded() } else { self.input }
    }

    /// Floats of the input's copy, if there is one.
    pub(crate) fn copy_len(&self) -> usize {
        if self.is_padded() { self.padded().len() } else { 0 }
    }

    /// The input with its padding.
    pub(crate) fn padded(&self) -> Picture {
        Picture {
            height: self.input.height + self.before[0] + self.after[0],
            width: self.input.width + self.before[1] + self.after[1],
            channels: self.input.channels,
        }
    }

    /// Floats of one row of a window: contiguous in the input where its pixels touch.
    pub(crate) fn row(&self) -> usize {
        self.width * self.input.channels
    }

    /// Floats of a window.
    pub(crate) fn len(&self) -> usize {
        self.height * self.row()
    }

    /// The input rows (axis 0) or columns (axis 1) that a window covers inside the picture.
    #[inline(always)]
    pub(crate) fn covered(&self, axis: usize, output: usize) -> Range<usize> {
        let size = [self.height, self.width][axis];
        let pixels = [self.input.height, self.input.width][axis];
        let start = output * self.stride[axis];
        let end = (start + size - self.before[axis]).min(pixels);
        start.saturating_sub(self.before[axis])..end
    }

    /// The rows or columns of outputs for which a tap of the window lies inside the picture.
    #[inline(always)]
    pub(crate) fn reaching(&self, axis: usize, tap: usize) -> Range<usize> {
        let pixels = [self.input.height, self.input.width][axis];
        let outputs = [self.output.height, self.output.width][axis];
        let (stride, before, offset) =
            (self.stride[axis], self.before[axis], tap * self.dilation[axis]);
        let first = before.saturating_sub(offset).div_ceil(stride);
        // The last output whose tap lies before the edge.
        let end = (pixels + before).saturating_sub(offset).div_ceil(stride).min(outputs);
        first..end
    }

    /// The taps that lie inside the picture, of an output's window.
    #[inline(always)]
    pub(crate) fn inside(&self, axis: usize, output: usize) -> Range<usize> {
        let size = [self.height, self.width][axis];
        let pixels = [self.input.height, self.input.width][axis];
        let (start, dilation) = (output * self.stride[axis], self.dilation[axis]);
        let first = up(self.before[axis].saturating_sub(start), dilation);
        let end = up((pixels + self.before[axis]).saturating_sub(start), dilation).min(size);
        first..end.max(first)
    }

    /// The row or column of the input under a tap of an output's window.
    #[inline(always)]
    pub(crate) fn under(&self, axis: usize, output: usize, tap: usize) -> usize {
        output * self.stride[axis] + tap * self.dilation[axis] - self.before[axis]
    }

    /// The rows or columns of outputs whose windows have a tap on a row or column of the input: the first of them and its
    /// tap, and how many there are. The next one is `dilation` further on, and its tap `stride` before; one of these is 1.
    #[inline(always)]
    pub(crate) fn over(&self, axis: usize, input: usize) -> ([usize; 2], usize) {
        let size = [self.height, self.width][axis];
        let outputs = [self.output.height, self.output.width][axis];
        let (stride, dilation) = (self.stride[axis], self.dilation[axis]);
        let place = input + self.before[axis];
        // The last tap from which whole strides lead to the place.
        let last = down(place, dilation).min(size - 1);
        let beside = if stride == 1 { 0 } else { (last + stride - place % stride) % stride };
        let Some(tap) = last.checked_sub(beside) else { return ([0; 2], 0) };
        let first = down(place - tap * dilation, stride);
        let count = up(outputs.saturating_sub(first), dilation).min(down(tap, stride) + 1);
        ([first, tap], count)
    }
}

/// How many steps are in a length, rounded up. Most steps are 1, and to divide takes long.
#[inline(always)]
fn up(length: usize, step: usize) -> usize {
    if step == 1 { length } else { length.div_ceil(step) }
}

/// The same rounded down.
#[inline(always)]
fn down(length: usize, step: usize) -> usize {
    if step == 1 { length } else { length / step }
}
