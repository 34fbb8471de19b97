//! An image file from anybody.
#![no_main]

use libfuzzer_sys::fuzz_target;
use preprocess::{Picture, Pixels};

fuzz_target!(|bytes: &[u8]| {
    // A panic in a decoder is caught where the program runs, and found here.
    let Ok(picture) = Picture::decode(bytes) else {
        return;
    };
    assert!(matches!(picture.channels, 1 | 3));
    assert_eq!(picture.bytes.len(), picture.height * picture.width * picture.channels);
    let form = Pixels { height: 5, width: 7, color: spec::Color::Rgb };
    assert_eq!(form.fit(picture).len(), 5 * 7 * 3);
});
