//! Questions as JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};

use super::{Asked, Nested, check_count, shortened};
use crate::limits::Limits;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    #[serde(default, deserialize_with = "there")]
    inputs: Option<Nested>,
    #[serde(default, borrow, deserialize_with = "there")]
    texts: Option<Vec<Cow<'a, str>>>,
    #[serde(default, borrow, deserialize_with = "there")]
    images: Option<Vec<Cow<'a, str>>>,
}

/// A field that is there has a value: `null` is none.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(field: D) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

pub(super) fn read<'a>(body: &'a [u8], limits: &Limits) -> Result<Asked<'a>, Problem> {
    let body: Body<'a> = serde_json::from_slice(body).map_err(|error| {
        let sentence = shortened(&format!("The body cannot be read: {error}."));
        // It may be JSON, and yet no question.
        if error.is_data() { Problem::unfit(sentence) } else { Problem::bad(sentence) }
    })?;
    match body {
        Body { inputs: Some(inputs), texts: None, images: None } => Ok(Asked::Numbers(inputs)),
        Body { inputs: None, texts: Some(texts), images: None } => Ok(Asked::Texts(texts)),
        Body { inputs: None, texts: None, images: Some(images) } => {
            check_count(images.len(), limits)?;
            images.iter().map(|image| decoded(image)).collect::<Result<_, _>>().map(Asked::Pictures)
        }
        _ => Err(Problem::unfit("Send one of `inputs`, `texts` and `images`.")),
    }
}

/// The bytes of an image in base64, perhaps as a page's `data:` address has them.
fn decoded<'a>(image: &str) -> Result<Cow<'a, [u8]>, Problem> {
    let digits = match image.strip_prefix("data:") {
        Some(address) => address.split_once(";base64,").map_or("", |(_, digits)| digits),
        None => image,
    };
    match STANDARD.decode(digits.trim()) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes.into()),
        _ => Err(Problem::unfit("An image is not base64.")),
    }
}
