//! Digits as people draw them with a mouse, a finger or a pen: written in several ways, large and small,
//! anywhere on sheets of several sizes, upright and slanted, a little shaky, with thin and thick pens,
//! dark on light and light on dark, and some as a phone sees them on paper.
//!
//! They are made from a seed that was chosen once. They are what preprocessing has to cope with, and
//! are not to be made easier when it does not.
#![allow(unreachable_pub, clippy::allow_attributes, reason = "a module of a test")]

mod pen;
mod strokes;

use pen::{Pen, draw};
use preprocess::Picture;
use random::{Key, Purpose};
use strokes::{Point, Strokes, ways};

const SEED: u64 = 2024;

/// How many there are of each digit.
pub const OF_EACH: usize = 20;

/// Heights and widths of sheets.
const SHEETS: [(usize, usize); 6] =
    [(280, 280), (280, 280), (140, 140), (64, 64), (300, 400), (640, 480)];
/// Pens, as shares of the height of a digit; the first is one pixel, whatever the height.
const PENS: [f32; 6] = [0.0, 0.03, 0.06, 0.09, 0.12, 0.16];

/// What is drawn on what.
#[derive(Clone, Copy, Debug)]
enum Look {
    BlackOnWhite,
    WhiteOnBlack,
    BlueOnWhite,
    GreyOnGrey,
    ChalkOnBoard,
    Photo,
}

const LOOKS: [Look; 6] = [
    Look::BlackOnWhite,
    Look::WhiteOnBlack,
    Look::BlueOnWhite,
    Look::GreyOnGrey,
    Look::ChalkOnBoard,
    Look::Photo,
];

/// All drawings: digit after digit, [`OF_EACH`] of each.
pub fn all() -> Vec<Picture> {
    let numbers = (0..10).flat_map(|digit| (0..OF_EACH).map(move |number| (digit, number)));
    numbers.map(|(digit, number)| drawing(digit, number)).collect()
}

/// One drawing of a digit.
fn drawing(digit: usize, number: usize) -> Picture {
    let key = Key::new(SEED, Purpose::Synthetic).with(digit as u64).with(number as u64);
    let ways = ways(digit);
    let way = &ways[number % ways.len()];
    let (height, width) = pick(key, 0, &SHEETS);
    let shortest = height.min(width) as f32;
    let tall = shortest * between(key, 1, 0.35, 0.85);
    let pen = Pen { width: (tall * pick(key, 2, &PENS)).max(1.0), smooth: key.below(3, 3) > 0 };
    let strokes = put(hand(way, key.with(1)), tall, pen.width, (height, width), key.with(2));
    let ink = draw(&strokes, pen, (height, width));
    paint(&ink, (height, width), pick(key, 4, &LOOKS), key.with(3))
}

/// As a hand would do it: slanted, turned, stretched, shaky.
fn hand(strokes: &Strokes, key: Key) -> Strokes {
    let slant = between(key, 0, -0.15, 0.35);
    let (sin, cos) = between(key, 1, -8.0, 8.0).to_radians().sin_cos();
    let stretch = between(key, 2, 0.8, 1.15);
    let (bend, phase) = (between(key, 3, 0.0, 5.0), between(key, 4, 0.0, 6.0));
    let mut point = 10;
    let mut moved = |&[x, y]: &Point| {
        point += 2;
        let (x, y) = (x - 140.0 + 1.2 * key.normal(point), y - 140.0 + 1.2 * key.normal(point + 1));
        let (x, y) = (stretch * (x - slant * y), y);
        let (x, y) = (x + bend * (y / 30.0 + phase).sin(), y + bend * (x / 30.0 - phase).sin());
        [cos * x - sin * y, sin * x + cos * y]
    };
    strokes.iter().map(|stroke| stroke.iter().map(&mut moved).collect()).collect()
}

/// Scales strokes to a height and puts them anywhere on a sheet where they fit.
fn put(strokes: Strokes, tall: f32, pen: f32, sheet: (usize, usize), key: Key) -> Strokes {
    let all = || strokes.iter().flatten();
    let ends = |axis: usize| {
        let places = all().map(|point| point[axis]);
        (places.clone().fold(f32::MAX, f32::min), places.fold(f32::MIN, f32::max))
    };
    let ((left, right), (top, bottom)) = (ends(0), ends(1));
    let edge = pen / 2.0 + 1.0;
    let room = [sheet.1 as f32 - 2.0 * edge, sheet.0 as f32 - 2.0 * edge];
    let scale = (tall / (bottom - top)).min(room[0] / (right - left)).min(room[1] / (bottom - top));
    let x = edge + (room[0] - scale * (right - left)) * key.uniform(0);
    let y = edge + (room[1] - scale * (bottom - top)) * key.uniform(1);
    let place = |point: &Point| [x + scale * (point[0] - left), y + scale * (point[1] - top)];
    strokes.iter().map(|stroke| stroke.iter().map(place).collect()).collect()
}

/// Ink becomes colours.
fn paint(ink: &[f32], (height, width): (usize, usize), look: Look, key: Key) -> Picture {
    let [ground, drawn] = match look {
        Look::BlackOnWhite => [[255.0; 3], [0.0; 3]],
        Look::WhiteOnBlack => [[0.0; 3], [255.0; 3]],
        Look::BlueOnWhite => [[255.0; 3], [30.0, 60.0, 200.0]],
        Look::GreyOnGrey => [[200.0; 3], [90.0; 3]],
        Look::ChalkOnBoard => [[30.0, 60.0, 45.0], [220.0, 225.0, 215.0]],
        Look::Photo => [[205.0, 198.0, 185.0], [60.0, 58.0, 70.0]],
    };
    let is_photo = matches!(look, Look::Photo);
    // Light comes from one side, and a sensor is noisy.
    let (across, down) = (between(key, 0, -0.3, 0.3), between(key, 1, -0.3, 0.3));
    let shade = |at: usize| {
        let x = (at % width) as f32 / width as f32 - 0.5;
        let y = (at / width) as f32 / height as f32 - 0.5;
        if is_photo { 1.0 + across * x + down * y - 0.2 * (x * x + y * y) } else { 1.0 }
    };
    let noise = |at: usize| if is_photo { 4.0 * key.with(1).normal(at as u64) } else { 0.0 };
    let pixel = |(at, &ink): (usize, &f32)| {
        let (shade, noise) = (shade(at), noise(at));
        [0, 1, 2].map(|c| ((ground[c] + ink * (drawn[c] - ground[c])) * shade + noise + 0.5) as u8)
    };
    let bytes = ink.iter().enumerate().flat_map(pixel).collect();
    Picture { height, width, channels: 3, bytes }
}

fn between(key: Key, element: u64, from: f32, to: f32) -> f32 {
    from + (to - from) * key.uniform(element)
}

fn pick<T: Copy>(key: Key, element: u64, choices: &[T]) -> T {
    choices[key.below(element, choices.len() as u64) as usize]
}
