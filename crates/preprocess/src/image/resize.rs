//! Bilinear resizing, as `tf.image.resize` and Keras' `image_dataset_from_directory` do it: pixels have
//! their centres at halves, and nothing is smoothed before a picture is made smaller.

use super::Picture;

/// The two neighbours of a place, and how far it is from the first to the second.
#[derive(Clone, Copy)]
struct Between {
    lower: usize,
    upper: usize,
    share: f32,
}

/// A picture's pixels at another size, each rounded to the nearest byte. Where Keras hands its network
/// fractions, this hands it bytes: a difference of at most a half.
pub(super) fn bilinear(picture: Picture, height: usize, width: usize) -> Vec<u8> {
    if (picture.height, picture.width) == (height, width) {
        return picture.bytes;
    }
    let channels = picture.channels;
    let (rows, columns) = (places(picture.height, height), places(picture.width, width));
    let row_bytes = picture.width * channels;
    let mut resized = Vec::with_capacity(height * width * channels);
    for row in rows {
        let upper = &picture.bytes[row.lower * row_bytes..][..row_bytes];
        let lower = &picture.bytes[row.upper * row_bytes..][..row_bytes];
        for column in &columns {
            for channel in 0..channels {
                let (left, right) =
                    (column.lower * channels + channel, column.upper * channels + channel);
                let at = |line: &[u8], place: usize| f32::from(line[place]);
                let top = mix(at(upper, left), at(upper, right), column.share);
                let bottom = mix(at(lower, left), at(lower, right), column.share);
                resized.push((mix(top, bottom, row.share) + 0.5) as u8);
            }
        }
    }
    resized
}

fn mix(from: f32, to: f32, share: f32) -> f32 {
    from + (to - from) * share
}

/// Where each of `new` places lies among `old` ones, in TensorFlow's order of operations.
fn places(old: usize, new: usize) -> Vec<Between> {
    let scale = old as f32 / new as f32;
    let place = |at: usize| {
        let exact = (at as f32 + 0.5) * scale - 0.5;
        let floor = exact.floor();
        Between {
            lower: (floor.max(0.0) as usize).min(old - 1),
            upper: (exact.ceil().max(0.0) as usize).min(old - 1),
            share: exact - floor,
        }
    };
    (0..new).map(place).collect()
}
