//! Small files made by hand, and what is no picture.

use super::*;

fn refused(bytes: &[u8]) -> String {
    Picture::decode(bytes).unwrap_err()
}

#[test]
fn netpbm_as_text_and_as_bytes() {
    let grey = |bytes: &[u8]| {
        let picture = Picture::decode(bytes).unwrap();
        assert_eq!((picture.height, picture.width, picture.channels), (2, 3, 1));
        picture.bytes
    };
    let expected = [0, 255, 0, 255, 0, 255];
    assert_eq!(grey(b"P1\n# bits\n3 2\n1 0 1\n010"), expected);
    assert_eq!(grey(b"P2 3 2 1 0 1 0 1 0 1"), expected);
    assert_eq!(grey(b"P4 3 2\n\xa0\x40"), expected);
    assert_eq!(grey(b"P5\n3 2\n255\n\0\xff\0\xff\0\xff"), expected);
    assert_eq!(grey(b"P5 3 2 65535\n\0\0\xff\xff\0\0\xff\xff\0\0\xff\xff"), expected);
    let colour = Picture::decode(b"P6 1 2 100\n\x64\x32\0\0\0\x64").unwrap();
    assert_eq!((colour.channels, colour.bytes), (3, vec![255, 128, 0, 0, 0, 255]));
}

#[test]
fn what_is_no_picture_says_so() {
    assert_eq!(refused(b""), "it is empty");
    assert!(refused(b"<html>").contains("no JPEG"));
    assert!(refused(b"P5 60000 60000 255\n").contains("60000 by 60000"));
    assert!(
        refused(b"P5 0 4 255\n").contains("0 pixels") || refused(b"P5 0 4 255\n").contains("by 0")
    );
    assert!(refused(b"P5 4 4 255\n123").contains("cut short"));
    assert!(refused(b"P2 4 4 255\n1 2 3").contains("cut short"));
    // A header that claims the largest PNG there is.
    let mut png =
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\0\0\0".to_vec();
    png.extend_from_slice(&[0; 40]);
    refused(&png);
    for start in [&b"\xff\xd8\xff"[..], b"\x89PNG", b"GIF89a", b"BM", b"P6"] {
        refused(start);
    }
}

#[test]
fn all_eight_orientations() {
    // Two rows of three.
    let picture = Picture { height: 2, width: 3, channels: 1, bytes: vec![1, 2, 3, 4, 5, 6] };
    for (orientation, expected) in [
        (1, [1, 2, 3, 4, 5, 6]),
        (2, [3, 2, 1, 6, 5, 4]),
        (3, [6, 5, 4, 3, 2, 1]),
        (4, [4, 5, 6, 1, 2, 3]),
        (5, [1, 4, 2, 5, 3, 6]),
        (6, [4, 1, 5, 2, 6, 3]),
        (7, [6, 3, 5, 2, 4, 1]),
        (8, [3, 6, 2, 5, 1, 4]),
    ] {
        let upright = exif::upright(picture.clone(), orientation);
        assert_eq!(upright.bytes, expected, "{orientation}");
        assert_eq!(upright.height, if orientation < 5 { 2 } else { 3 });
    }
}

#[test]
fn exif_that_lies_is_no_orientation() {
    let good = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
    assert_eq!(exif::orientation(good), 6);
    for cut in 0..good.len() - 3 {
        assert_eq!(exif::orientation(&good[..cut]), 1, "{cut}");
    }
    assert_eq!(exif::orientation(b"II*\0\xff\xff\xff\xff"), 1);
}

/// A PNG of one row of pixels with colour and alpha.
fn png(pixels: &[[u8; 4]]) -> Vec<u8> {
    let mut bytes = vec![];
    let mut encoder = ::png::Encoder::new(&mut bytes, pixels.len() as u32, 1);
    encoder.set_color(::png::ColorType::Rgba);
    encoder.write_header().unwrap().write_image_data(pixels.as_flattened()).unwrap();
    bytes
}

#[test]
fn a_drawing_lies_on_paper() {
    let drawing = |pixels: &[[u8; 4]]| Picture::decode_drawing(&png(pixels)).unwrap().bytes;
    let [black, white, none] = [[0, 0, 0, 255], [255; 4], [0; 4]];
    assert_eq!(drawing(&[none, black]), [255, 255, 255, 0, 0, 0]);
    assert_eq!(drawing(&[none, [0, 0, 0, 102]]), [255, 255, 255, 153, 153, 153]);
    assert_eq!(drawing(&[none, white]), [0, 0, 0, 255, 255, 255]);
    assert_eq!(drawing(&[none, white, black])[..6], [255; 6]);
    assert_eq!(drawing(&[[9, 9, 9, 0], [7, 7, 7, 0]]), [9, 9, 9, 7, 7, 7]);
    // Training goes on seeing what is behind the alpha.
    assert_eq!(Picture::decode(&png(&[none, black])).unwrap().bytes, [0; 6]);
}
