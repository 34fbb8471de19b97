//! Questions as JSON.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::{Asked, Nested, check_count, shortened};
use crate::limits::Limits;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body<'a> {
    inputs: Option<Nested>,
    #[serde(borrow)]
    texts: Option<Vec<Cow<'a, str>>>,
    #[serde(borrow)]
    images: Option<Vec<Cow<'a, str>>>,
}

pub(super) fn read<'a>(body: &'a [u8], limits: &Limits) -> Result<Asked<'a>, Problem> {
    let body: Body<'a> = serde_json::from_slice(body)
        .map_err(|error| Problem::bad(shortened(&format!("The body cannot be read: {error}."))))?;
    match body {
        Body { inputs: Some(inputs), texts: None, images: None } => Ok(Asked::Numbers(inputs)),
        Body { inputs: None, texts: Some(texts), images: None } => Ok(Asked::Texts(texts)),
        Body { inputs: None, texts: None, images: Some(images) } => {
            check_count(images.len(), limits)?;
            images.iter().map(|image| decoded(image)).collect::<Result<_, _>>().map(Asked::Pictures)
        }
        _ => Err(Problem::bad("Send one of `inputs`, `texts` and `images`.")),
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
        _ => Err(Problem::bad("An image is not base64.")),
    }
}
