//! A ring and a bar, drawn in every way that must not matter.

use super::*;

/// A drawing: a ring with a bar to its right, like a badly written "10" without a gap.
#[derive(Clone, Copy)]
struct Drawing {
    sheet: usize,
    /// Where its middle is, and how far the ring goes from there.
    middle: (f32, f32),
    radius: f32,
    pen: f32,
    ground: f32,
    ink: f32,
}

const PLAIN: Drawing = Drawing {
    sheet: 280,
    middle: (140.0, 140.0),
    radius: 80.0,
    pen: 20.0,
    ground: 255.0,
    ink: 0.0,
};

impl Drawing {
    fn covered(&self, y: usize, x: usize) -> f32 {
        let (y, x) = (y as f32 + 0.5 - self.middle.0, x as f32 + 0.5 - self.middle.1);
        let ring = (y.hypot(x) - self.radius).abs();
        let bar = (x - 1.2 * self.radius).hypot((y.abs() - self.radius).max(0.0));
        (self.pen / 2.0 - ring.min(bar) + 0.5).clamp(0.0, 1.0)
    }

    fn picture(&self, light: impl Fn(usize, usize) -> f32) -> Picture {
        let places = (0..self.sheet * self.sheet).map(|at| (at / self.sheet, at % self.sheet));
        let level = |(y, x)| {
            let level = self.ground + self.covered(y, x) * (self.ink - self.ground);
            (level * light(y, x) + 0.5) as u8
        };
        let bytes = places.map(level).collect();
        Picture { height: self.sheet, width: self.sheet, channels: 1, bytes }
    }

    fn sample(&self) -> Vec<u8> {
        digit(self.picture(|_, _| 1.0)).unwrap()
    }
}

/// By how much two samples differ on average.
fn difference(a: &[u8], b: &[u8]) -> f64 {
    let sum: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum();
    sum / a.len() as f64
}

/// Whether it is as MNIST's are: 20 pixels long, its centre of mass in the middle.
fn assert_placed(sample: &[u8]) {
    let picture = Picture { height: SIDE, width: SIDE, channels: 1, bytes: sample.to_vec() };
    assert_eq!(place::already(&picture).as_deref(), Some(sample));
    assert!(sample.contains(&255));
}

/// Numbers that look like noise, from -1 to 1.
fn noise(y: usize, x: usize) -> f32 {
    let mixed = (y as u32 * 7919 + x as u32).wrapping_mul(0x9e37_79b9);
    let mixed = (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b);
    (mixed >> 8) as f32 / (1 << 23) as f32 - 1.0
}

#[test]
fn where_how_large_and_in_which_colours_does_not_matter() {
    let plain = PLAIN.sample();
    assert_placed(&plain);
    for other in [
        Drawing { ground: 0.0, ink: 255.0, ..PLAIN },
        Drawing { ground: 190.0, ink: 120.0, ..PLAIN },
        Drawing { middle: (92.0, 91.0), ..PLAIN },
        Drawing { sheet: 1400, middle: (500.0, 800.0), radius: 200.0, pen: 50.0, ..PLAIN },
        Drawing { sheet: 64, middle: (30.0, 25.0), radius: 16.0, pen: 4.0, ..PLAIN },
    ] {
        let sample = other.sample();
        assert_placed(&sample);
        assert!(difference(&sample, &plain) < 6.0, "{}", difference(&sample, &plain));
    }
}

#[test]
fn thin_and_thick_strokes_become_as_wide_as_those_of_mnist() {
    let ink = |pen: f32| {
        let sample = Drawing { pen, ..PLAIN }.sample();
        assert_placed(&sample);
        sample.iter().map(|&value| f64::from(value)).sum::<f64>() / 255.0
    };
    let thin = ink(1.0);
    assert!((ink(4.0) - thin).abs() < 0.1 * thin && (ink(10.0) - thin).abs() < 0.1 * thin);
    assert!(ink(30.0) > 1.2 * thin);
    // The ring is still open.
    let thick = Drawing { pen: 60.0, ..PLAIN }.sample();
    assert!(thick[14 * SIDE + 9..14 * SIDE + 14].iter().any(|&value| value < 64));
}

#[test]
fn paper_in_uneven_light_is_still_paper() {
    let plain = PLAIN.sample();
    for ink in [40.0, 120.0] {
        let light = |y: usize, x: usize| {
            let place = (y as f32 - 60.0).hypot(x as f32 - 40.0) / 280.0;
            0.9 - 0.35 * place + 0.02 * noise(y, x)
        };
        let photo = digit(Drawing { ink, ground: 230.0, ..PLAIN }.picture(light)).unwrap();
        assert!(difference(&photo, &plain) < 4.0, "{ink}: {}", difference(&photo, &plain));
    }
}

#[test]
fn dust_is_no_ink() {
    let mut picture = PLAIN.picture(|_, _| 1.0);
    for at in [3 * 280 + 5, 9 * 280 + 270, 275 * 280 + 100, 275 * 280 + 101, 276 * 280 + 100] {
        picture.bytes[at] = 0;
    }
    assert_eq!(digit(picture).unwrap(), PLAIN.sample());
}

#[test]
fn where_nothing_is_drawn_it_says_so() {
    let nothing = Err("there is nothing drawn in it".to_owned());
    for level in [0.0, 128.0, 255.0] {
        let empty = Drawing { ground: level, ink: level, ..PLAIN };
        assert_eq!(digit(empty.picture(|_, _| 1.0)), nothing);
    }
    let paper = Drawing { ground: 200.0, ink: 200.0, ..PLAIN };
    let light = |y: usize, x: usize| 1.0 - 0.001 * (x + y) as f32 + 0.02 * noise(y, x);
    assert_eq!(digit(paper.picture(light)), nothing);
}

#[test]
fn no_picture_is_too_small_or_too_odd() {
    for (height, width) in [(1, 1), (1, 40), (40, 1), (2, 3), (5, 600), (28, 28), (37, 41)] {
        for channels in [1, 3] {
            let levels = (0..height * width * channels).map(|at| noise(at, width));
            let bytes = levels.map(|level| (127.0 + 120.0 * level) as u8).collect();
            let sample = digit(Picture { height, width, channels, bytes });
            assert!(sample.is_err() || sample.is_ok_and(|sample| sample.len() == SIDE * SIDE));
        }
    }
}
