//! Pictures that the server shows: of a gallery, and to try a model with.

use std::path::Path;

use crate::running::{faces, model, served, start};
use engine::Isa;
use preprocess::{Form, Picture, Pixels};
use serve::{Examples, Gallery, Limits, Served};

/// A grey picture, of stripes that differ by number.
fn striped(number: u8) -> Vec<u8> {
    let ink =
        |at: u8| if (at % 12).is_multiple_of(number + 2) { 250 - number } else { 10 * number };
    Picture { height: 12, width: 12, channels: 1, bytes: (0..144).map(ink).collect() }.to_png()
}

fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "png")
}

fn with_gallery(folder: &Path) -> Served {
    for person in 0..3u8 {
        for picture in 0..2u8 {
            let path = folder.join(format!("people/p{person}/{picture}.png"));
            put(&path, &striped(2 * person + picture));
        }
    }
    let served = served(faces(0));
    let kept = folder.join("kept.json");
    let gallery =
        Gallery::open(&folder.join("people"), &served, &kept, Isa::detect(), |_| {}).unwrap();
    served.with_gallery(gallery).unwrap()
}

#[test]
fn a_gallery_is_what_faces_are_tried_with() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(with_gallery(folder.path()), None, Limits::default());
    let examples = server.get("/v1/model").json()["examples"].clone();
    let expected = serde_json::json!([
        { "url": "/gallery/1", "name": "p0" },
        { "url": "/gallery/3", "name": "p1" },
        { "url": "/gallery/5", "name": "p2" }
    ]);
    assert_eq!(examples, expected);
    assert_eq!(server.get("/gallery/1").status, 200);
    for nowhere in ["/gallery/6", "/gallery/x", "/examples/0"] {
        assert_eq!(server.get(nowhere).status, 404, "{nowhere}");
    }
    // A picture of the gallery is compared with the other one of its person.
    let answer = server.post("/v1/predict", "image/png", &striped(1)).json();
    let nearest = answer["nearest"][0].as_array().unwrap();
    let own = nearest.iter().find(|near| near["person"] == "p0").unwrap();
    assert_eq!(own["picture"], "/gallery/0");
    assert!(nearest.iter().all(|near| near["distance"].as_f64().unwrap() > 0.0), "{answer}");
}

#[test]
fn pictures_of_a_folder_are_offered_where_somebody_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for number in 0..9u8 {
        put(&path(&format!("cats/{number}.png")), &striped(number));
        put(&path(&format!("dogs/{number}.png")), &striped(number));
    }
    put(&path("broken.png"), b"\x89PNG");
    put(&path("notes.txt"), b"none");
    let pixels = Pixels { height: 12, width: 12, color: spec::Color::Grey };
    let layers = r#"[{"Flatten": {}}, {"Dense": {"units": 10, "activation": "softmax"}}]"#;
    let pictures = || served(model(&[12, 12, 1], layers, Form::Pixels(pixels), 0));
    assert!(pictures().about().examples.is_empty());
    let with = |served: Served| {
        let examples = Examples::open(folder.path(), &served, is_png).unwrap();
        served.with_examples(examples)
    };
    let server = start(with(pictures()).unwrap(), None, Limits::default());
    let examples = server.get("/v1/model").json()["examples"].clone();
    let examples = examples.as_array().unwrap();
    assert_eq!(examples.len(), 12);
    assert_eq!(examples[2], serde_json::json!({ "url": "/examples/2", "name": "1.png" }));
    for example in examples {
        let answer = server.get(example["url"].as_str().unwrap());
        assert!(answer.status == 200 && answer.head.contains("image/png"), "{answer:?}");
    }
    assert_eq!(server.get("/examples/12").status, 404);
    assert!(with(served(crate::running::digits(0))).is_err());
    std::fs::create_dir(path("empty")).unwrap();
    assert!(Examples::open(&path("empty"), &pictures(), is_png).is_err());
    // A gallery is not offered beside them.
    let faces = with_gallery(&path("more"));
    assert!(with(faces).unwrap().about().examples[0].url.starts_with("/examples/"));
}
