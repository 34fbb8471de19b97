//! What a request asks, read from its body: numbers, texts or pictures.
//!
//! Nothing here looks at a model. What a body says of itself is checked against limits before memory is spent on it.

mod json;
mod multipart;
mod nested;
mod urlencoded;

use std::borrow::Cow;

use axum::http::StatusCode;

use crate::limits::Limits;
use crate::problem::Problem;
pub use nested::Nested;

/// The questions of a request: at least one, all of one form.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<'a> {
    /// Numbers: one sample or several.
    Numbers(Nested),
    /// Texts.
    Texts(Vec<Cow<'a, str>>),
    /// Image files.
    Pictures(Vec<Cow<'a, [u8]>>),
}

const TYPES: &str = "application/json, a form or an image";

impl<'a> Asked<'a> {
    /// Reads the body of a request by its content type.
    pub fn read(content_type: &str, body: &'a [u8], limits: &Limits) -> Result<Self, Problem> {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        let asked = match essence.to_ascii_lowercase().as_str() {
            "application/json" => json::read(body, limits)?,
            "multipart/form-data" => Asked::of_form(content_type, body)?,
            "application/x-www-form-urlencoded" => Asked::Texts(urlencoded::reviews(body)?),
            image if image.starts_with("image/") => Asked::Pictures(vec![body.into()]),
            _ => {
                let sentence = format!("The body's type is `{essence}`; send {TYPES}.");
                return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, shortened(&sentence)));
            }
        };
        asked.check(limits)?;
        Ok(asked)
    }

    /// The seeds' forms: `file` is a picture, `review` a text.
    fn of_form(content_type: &str, body: &'a [u8]) -> Result<Self, Problem> {
        let (mut pictures, mut texts) = (vec![], vec![]);
        for part in multipart::parts(content_type, body)? {
            match part.name {
                // A form without JavaScript sends the field that was left empty, too.
                _ if part.body.is_empty() => {}
                "file" => pictures.push(Cow::from(part.body)),
                "review" => match std::str::from_utf8(part.body) {
                    Ok(text) => texts.push(Cow::from(text)),
                    Err(_) => return Err(Problem::bad("The text is not UTF-8.")),
                },
                other => {
                    let sentence =
                        format!("A form's fields are `file` and `review`, not `{other}`.");
                    return Err(Problem::bad(shortened(&sentence)));
                }
            }
        }
        match (pictures.is_empty(), texts.is_empty()) {
            (false, true) => Ok(Asked::Pictures(pictures)),
            (true, false) => Ok(Asked::Texts(texts)),
            (true, true) => Err(Problem::unfit(
                "The form is empty; send a picture as `file` or a text as `review`.",
            )),
            (false, false) => Err(Problem::bad("Send either pictures or texts, not both at once.")),
        }
    }

    fn check(&self, limits: &Limits) -> Result<(), Problem> {
        let count = match self {
            // How many samples numbers are, the model's shape decides.
            Asked::Numbers(_) => 1,
            Asked::Texts(texts) => texts.len(),
            Asked::Pictures(pictures) => pictures.len(),
        };
        if count == 0 {
            return Err(Problem::unfit("Nothing is asked; send at least one sample."));
        }
        check_count(count, limits)?;
        if let Asked::Texts(texts) = self
            && let Some(long) = texts.iter().find(|text| text.len() > limits.text)
        {
            let (len, most) = (long.len(), limits.text);
            let sentence = format!("A text has {len} bytes; {most} is the most.");
            return Err(Problem::too_large(sentence));
        }
        Ok(())
    }
}

/// Refuses more samples than one request may have.
pub(crate) fn check_count(count: usize, limits: &Limits) -> Result<(), Problem> {
    let most = limits.questions;
    match count <= most {
        true => Ok(()),
        false => Err(Problem::too_large(format!(
            "{count} samples are too many for one request; {most} is the most."
        ))),
    }
}

/// A sentence that may quote what somebody sent, at a length that a person reads.
pub(crate) fn shortened(sentence: &str) -> String {
    const MOST: usize = 300;
    match sentence.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests;
