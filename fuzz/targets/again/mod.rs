//! What a request asked, written once more, in another form where there is one.

use serde_json::{Value, json};
use serve::{Asked, Limits, Nested};

/// Holds what was read to its promises, and reads it again from another body.
pub fn same(asked: &Asked<'_>) {
    let Some((content_type, body)) = written(asked) else { return };
    // Limits bound what comes from outside, and this was within them.
    let again =
        Asked::read(content_type, &body, &Limits::default()).expect("what was written is read");
    assert_eq!(&again, asked);
}

/// Pictures as a form, all else as JSON. Nothing where a picture holds the boundary by chance.
fn written(asked: &Asked<'_>) -> Option<(&'static str, Vec<u8>)> {
    match asked {
        Asked::Numbers(numbers) => {
            assert_eq!(numbers.shape.iter().product::<usize>(), numbers.values.len());
            assert!(!numbers.values.is_empty() && numbers.values.iter().all(|x| x.is_finite()));
            Some(("application/json", json!({ "inputs": nested(numbers) }).to_string().into()))
        }
        Asked::Texts(texts) => {
            Some(("Application/JSON;charset=utf-8", json!({ "texts": texts }).to_string().into()))
        }
        Asked::Pictures(pictures) => {
            let mut body = vec![];
            for picture in pictures {
                // An image that is the whole body may be empty, a field of a form that is, is none.
                if picture.is_empty() || picture.windows(8).any(|some| some == b"frontier") {
                    return None;
                }
                body.extend(b"--frontier\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n");
                body.extend(picture.iter());
                body.extend(b"\r\n");
            }
            body.extend(b"--frontier--");
            Some(("multipart/form-data; boundary=frontier", body))
        }
    }
}

fn nested(numbers: &Nested) -> Value {
    let mut level: Vec<Value> = numbers.values.iter().map(|&number| json!(number)).collect();
    for &side in numbers.shape.iter().rev() {
        level = level.chunks(side).map(|row| Value::from(row.to_vec())).collect();
    }
    level.swap_remove(0)
}
