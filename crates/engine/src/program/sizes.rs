//! How windows lie over a picture, from what layers say.

use spec::{Padding, Pair};

use super::{Picture, Window};

/// How windows lie over a picture, as layers say it.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) window: Pair,
    pub(super) strides: Pair,
    pub(super) padding: Padding,
    /// How far apart the pixels of a window are.
    pub(super) dilation: Pair,
    /// Whether all padding comes before, across.
    pub(super) causal: bool,
}

impl Sizes {
    pub(super) fn new(window: Pair, strides: Pair, padding: Padding) -> Sizes {
        Sizes { window, strides, padding, dilation: Pair::square(1), causal: false }
    }

    /// With pixels so far apart; where a window has one, there is nothing between.
    pub(super) fn apart(self, dilation: Pair) -> Sizes {
        let along = |size: usize, dilation: usize| if size == 1 { 1 } else { dilation };
        let height = along(self.window.height, dilation.height);
        let dilation = Pair { height, width: along(self.window.width, dilation.width) };
        Sizes { dilation, ..self }
    }

    /// Padding is that of windows with their gaps.
    pub(super) fn window(self, input: Picture, output: Picture) -> Window {
        let Sizes { window: size, strides, dilation, .. } = self;
        let reach = |size: usize, dilation: usize| (size - 1) * dilation + 1;
        let [high, wide] = [reach(size.height, dilation.height), reach(size.width, dilation.width)];
        let before_and_after = |windows: usize, reach: usize, stride: usize, pixels: usize| {
            let total = match self.padding {
                Padding::Valid => 0,
                Padding::Same => ((windows - 1) * stride + reach).saturating_sub(pixels),
            };
            // The odd one goes after, as in TensorFlow.
            (total / 2, total - total / 2)
        };
        let down = before_and_after(output.height, high, strides.height, input.height);
        let across = match self.causal {
            true => (wide - 1, 0),
            false => before_and_after(output.width, wide, strides.width, input.width),
        };
        Window {
            input,
            output,
            height: size.height,
            width: size.width,
            stride: [strides.height, strides.width],
            dilation: [dilation.height, dilation.width],
            before: [down.0, across.0],
            after: [down.1, across.1],
        }
    }
}
