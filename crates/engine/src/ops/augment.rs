//! Pictures flipped, turned or shifted at random while training. How is a pure function of (seed, rank, step,
//! layer, sample), so the backward pass computes it again.
//!
//! Every pixel of the result is a weighted sum of four of the input (or one, where it is flipped); the
//! backward pass gives each of these its share of the gradient.

use std::ops::Range;

use random::{Key, Purpose};
use spec::{Fill, Flip};

use super::{Run, disjoint};
use crate::Noise;
use crate::kernels::taps::{self, Taps};
use crate::program::{Augment, Operation, Picture, Place, Turn};
use crate::share::{Cut, portion};

/// What happens to one sample's picture.
#[derive(Clone, Copy)]
struct Change {
    picture: Picture,
    flipped: [bool; 2],
    /// The cosine and sine of the angle; none where pixels stay whole.
    turned: Option<[f64; 2]>,
    /// Rows and columns between where a pixel was and where it is.
    shifted: [f64; 2],
    fill: Fill,
}

impl Augment {
    pub(super) fn forward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (isa, channels) = (run.cpu.isa(), self.picture.channels);
        self.pass(operation.x, operation.y, run, |change, x, y| {
            change.each(|pixels, taps| {
                let y = &mut y[pixels.start * channels..pixels.end * channels];
                taps::gather(isa, taps, channels, x, y);
            });
        });
    }

    pub(super) fn backward(&self, operation: &Operation, run: &mut Run<'_>) {
        let (Some(dy), Some(dx)) = (operation.dy, operation.dx) else { return };
        let (isa, channels) = (run.cpu.isa(), self.picture.channels);
        self.pass(dy, dx, run, |change, dy, dx| {
            dx.fill(0.0);
            change.each(|pixels, taps| {
                let dy = &dy[pixels.start * channels..pixels.end * channels];
                taps::scatter(isa, taps, channels, dy, dx);
            });
        });
    }

    fn pass(
        &self,
        from: Place,
        to: Place,
        run: &mut Run<'_>,
        each: impl Fn(Change, &[f32], &mut [f32]) + Sync,
    ) {
        let n = run.n;
        let [from, to] = disjoint(run.values, [from.range(n), to.range(n)]);
        let Some(noise) = run.noise else { return to.copy_from_slice(from) };
        let (from, len) = (&*from, self.picture.len());
        let parts = run.cpu.parts(8 * to.len(), n);
        run.cpu.each(parts, Cut::new(to, n, parts), |part, to| {
            for (sample, to) in portion(n, parts, part).zip(to.chunks_exact_mut(len)) {
                each(self.change(noise, sample as u64), &from[sample * len..][..len], to);
            }
        });
    }

    fn change(&self, noise: Noise, sample: u64) -> Change {
        let key = Key::new(noise.seed, Purpose::Augment)
            .with(noise.rank)
            .with(noise.step)
            .with(self.layer);
        let still = Change {
            picture: self.picture,
            flipped: [false; 2],
            turned: None,
            shifted: [0.0; 2],
            fill: Fill::Nearest,
        };
        let coin = |axis: u64| key.below(2 * sample + axis, 2) == 1;
        match self.turn {
            Turn::Flip(Flip::Vertical) => Change { flipped: [coin(0), false], ..still },
            Turn::Flip(Flip::Horizontal) => Change { flipped: [false, coin(1)], ..still },
            Turn::Flip(Flip::HorizontalAndVertical) => {
                Change { flipped: [coin(0), coin(1)], ..still }
            }
            Turn::Rotate { factor, fill } => {
                let turns = f64::from(factor * (2.0 * key.uniform(sample) - 1.0));
                Change { turned: Some(cosine_and_sine(turns)), fill, ..still }
            }
            Turn::Shift { factors, fill } => {
                let Picture { height, width, .. } = self.picture;
                let shift = |axis: usize, side: usize| {
                    let share = 2.0 * key.uniform(2 * sample + axis as u64) - 1.0;
                    f64::from(factors[axis] * share) * side as f64
                };
                let shifted = [shift(0, height), shift(1, width)];
                Change { turned: Some([1.0, 0.0]), shifted, fill, ..still }
            }
        }
    }
}

impl Change {
    /// Calls `each` with some pixels of the result and where they come from, until it had all.
    fn each(&self, mut each: impl FnMut(Range<usize>, &[Taps])) {
        const SOME: usize = 32;
        let mut taps = [[(None, 0.0); 4]; SOME];
        let all = self.picture.height * self.picture.width;
        for start in (0..all).step_by(SOME) {
            let end = all.min(start + SOME);
            for (taps, pixel) in taps.iter_mut().zip(start..end) {
                *taps = self.taps(pixel);
            }
            each(start..end, &taps[..end - start]);
        }
    }

    /// Where a pixel of the result comes from.
    fn taps(&self, pixel: usize) -> Taps {
        let Picture { height, width, .. } = self.picture;
        let [row, column] = [pixel / width, pixel % width];
        let Some([cosine, sine]) = self.turned else {
            let row = if self.flipped[0] { height - 1 - row } else { row };
            let column = if self.flipped[1] { width - 1 - column } else { column };
            let mut taps = [(None, 0.0); 4];
            taps[0] = (Some(row * width + column), 1.0);
            return taps;
        };
        // Around the middle of the picture.
        let middle = [(height - 1) as f64 / 2.0, (width - 1) as f64 / 2.0];
        let [down, across] = [row as f64 - middle[0], column as f64 - middle[1]];
        let y = cosine * down + sine * across + middle[0] + self.shifted[0];
        let x = cosine * across - sine * down + middle[1] + self.shifted[1];
        let (top, left) = (floor(y), floor(x));
        let (below, right) = ((y - top as f64) as f32, (x - left as f64) as f32);
        let rows = [0, 1].map(|down| inside(self.fill, top + down, height));
        let columns = [0, 1].map(|across| inside(self.fill, left + across, width));
        let at = |down: usize, across: usize| Some(rows[down]? * width + columns[across]?);
        [
            (at(0, 0), (1.0 - below) * (1.0 - right)),
            (at(0, 1), (1.0 - below) * right),
            (at(1, 0), below * (1.0 - right)),
            (at(1, 1), below * right),
        ]
    }
}

/// The largest whole number that is not above. The library's is a call where the processor may be an old one.
#[inline(always)]
fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

/// What lies at a place along a side, be it outside.
fn inside(fill: Fill, at: i64, side: usize) -> Option<usize> {
    let last = side as i64 - 1;
    let place = match fill {
        _ if at >= 0 && at <= last => at,
        Fill::Constant => at,
        Fill::Nearest => at.clamp(0, last),
        Fill::Wrap => at.rem_euclid(side as i64),
        // There and back again: a b c | c b a | a b c.
        Fill::Reflect => {
            let around = at.rem_euclid(2 * side as i64);
            if around > last { 2 * last + 1 - around } else { around }
        }
    };
    usize::try_from(place).ok().filter(|&place| place < side)
}

/// Of an angle in whole turns, by a series: the library's functions differ between machines.
fn cosine_and_sine(turns: f64) -> [f64; 2] {
    let x = (turns - turns.round()) * std::f64::consts::TAU;
    let (mut cosine, mut sine) = (1.0, x);
    let (mut even, mut odd) = (1.0, x);
    for k in 1..14 {
        let k = f64::from(2 * k);
        even *= -x * x / (k * (k - 1.0));
        odd *= -x * x / (k * (k + 1.0));
        cosine += even;
        sine += odd;
    }
    [cosine, sine]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_are_cosine_and_sine() {
        for step in -300..300 {
            let turns = f64::from(step) / 100.0;
            let [cosine, sine] = cosine_and_sine(turns);
            let x = turns * std::f64::consts::TAU;
            assert!((cosine - x.cos()).abs() < 1e-12 && (sine - x.sin()).abs() < 1e-12, "{turns}");
        }
    }

    #[test]
    fn what_lies_outside_is_found_inside() {
        let row = |fill: Fill| (-4..7).map(|at| inside(fill, at, 3)).collect::<Vec<_>>();
        let some = |places: [usize; 11]| places.map(Some).to_vec();
        assert_eq!(row(Fill::Reflect), some([2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]));
        assert_eq!(row(Fill::Wrap), some([2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]));
        assert_eq!(row(Fill::Nearest), some([0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]));
        assert_eq!(row(Fill::Constant)[3..8], [None, Some(0), Some(1), Some(2), None]);
    }

    #[test]
    fn a_shift_takes_pixels_from_beside() {
        let picture = Picture { height: 2, width: 3, channels: 1 };
        let (turned, shifted) = (Some([1.0, 0.0]), [1.0, -0.25]);
        let change = Change { picture, flipped: [false; 2], turned, shifted, fill: Fill::Nearest };
        let [one, other, ..] = change.taps(1);
        assert_eq!((one, other), ((Some(3), 0.25), (Some(4), 0.75)));
        // From below the picture and from its left: the nearest ones there are.
        assert_eq!(change.taps(3)[0], (Some(3), 0.25));
    }

    #[test]
    fn a_quarter_turn_moves_every_pixel_of_a_square() {
        let picture = Picture { height: 3, width: 3, channels: 1 };
        let turned = Some(cosine_and_sine(0.25));
        let shifted = [0.0; 2];
        let change = Change { picture, flipped: [false; 2], turned, shifted, fill: Fill::Constant };
        let from: Vec<usize> = (0..9)
            .map(|pixel| {
                let taps = change.taps(pixel);
                let sum: f32 = taps.iter().map(|tap| tap.1).sum();
                let most = taps.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
                assert!((sum - 1.0).abs() < 1e-6);
                most.and_then(|tap| tap.0).expect("a pixel inside")
            })
            .collect();
        assert_eq!(from, [2, 5, 8, 1, 4, 7, 0, 3, 6]);
    }
}
