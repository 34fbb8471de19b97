//! Files of many kinds, against what TensorFlow and Keras read in them (see `fixtures`).

use std::fs;
use std::path::PathBuf;

use preprocess::{Picture, Pixels};
use spec::Color;

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read(path).expect("it is in the repository")
}

/// A file's pixels in colour at its own size.
fn pixels(name: &str) -> (Picture, Vec<u8>) {
    let picture = Picture::decode(&fixture(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let form = Pixels { height: picture.height, width: picture.width, color: Color::Rgb };
    (picture.clone(), form.fit(picture))
}

#[test]
fn what_loses_nothing_is_read_as_tensorflow_reads_it() {
    for name in [
        "noise.png",
        "alpha.png",
        "palette.png",
        "sixteen.png",
        "bits.png",
        "animated.gif",
        "colour.bmp",
    ] {
        let (picture, pixels) = pixels(name);
        assert_eq!((picture.height, picture.width), (9, 13), "{name}");
        assert_eq!(pixels, fixture(&format!("{name}.rgb")), "{name}");
    }
    // TensorFlow reads palettes in bitmaps wrongly; the same colours are in the PNG.
    assert_eq!(pixels("palette.bmp").1, pixels("palette.png").1);
}

#[test]
fn jpegs_are_read_nearly_as_tensorflow_reads_them() {
    for (name, most) in [
        ("full.jpg", 6),
        ("grey.jpg", 6),
        ("photo.jpg", 12),
        ("progressive.jpg", 12),
        ("cmyk.jpg", 12),
    ] {
        let (picture, pixels) = pixels(name);
        assert_eq!((picture.height, picture.width), (32, 48), "{name}");
        let theirs = fixture(&format!("{name}.rgb"));
        let differences = pixels.iter().zip(&theirs).map(|(a, b)| a.abs_diff(*b));
        let worst = differences.clone().max().unwrap();
        let mean = differences.map(f64::from).sum::<f64>() / theirs.len() as f64;
        assert!(worst <= most && mean < 1.5, "{name}: at most {worst}, {mean} on average");
    }
}

#[test]
fn sizes_are_changed_as_keras_changes_them() {
    let noise = fixture("noise.png");
    for (height, width) in [(4, 5), (20, 31), (9, 30), (1, 1)] {
        let form = Pixels { height, width, color: Color::Rgb };
        let ours = form.sample(&noise).unwrap();
        let theirs = fixture(&format!("noise-{height}x{width}.f32"));
        let theirs: Vec<f32> =
            theirs.as_chunks().0.iter().copied().map(f32::from_le_bytes).collect();
        assert_eq!(ours.len(), theirs.len());
        // Rounded to the nearest, halves up; nothing else is lost.
        let rounded: Vec<u8> = theirs.iter().map(|value| (value + 0.5) as u8).collect();
        assert_eq!(ours, rounded, "{height} by {width}");
    }
}

#[test]
fn a_picture_is_turned_upright() {
    let (picture, pixels) = pixels("turned.jpg");
    assert_eq!((picture.height, picture.width), (24, 16));
    // What lies left in the file is on top.
    let at = |y: usize, x: usize| &pixels[3 * (16 * y + x)..][..3];
    assert!(at(2, 8)[0] > 180 && at(21, 8)[2] > 160, "{:?} {:?}", at(2, 8), at(21, 8));
}

#[test]
fn grey_is_as_bright_as_colour() {
    let form = Pixels { height: 9, width: 13, color: Color::Grey };
    let grey = form.sample(&fixture("noise.png")).unwrap();
    let colours = fixture("noise.png.rgb");
    assert_eq!(grey.len(), 9 * 13);
    for (&grey, colour) in grey.iter().zip(colours.as_chunks::<3>().0) {
        let [red, green, blue] = colour.map(f64::from);
        assert!((f64::from(grey) - (0.299 * red + 0.587 * green + 0.114 * blue)).abs() <= 0.501);
    }
}

#[test]
fn what_is_cut_short_is_refused() {
    for name in ["photo.jpg", "progressive.jpg", "noise.png", "colour.bmp", "animated.gif"] {
        let whole = fixture(name);
        // The first of two pictures ends before the file does.
        let shares = if name.ends_with("gif") { [1, 2, 3] } else { [1, 4, 7] };
        for share in shares {
            let cut = &whole[..whole.len() * share / 8];
            assert!(Picture::decode(cut).is_err(), "{name}, {share} eighths of it");
        }
    }
}
