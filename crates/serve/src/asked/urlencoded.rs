//! A form without files, as browsers send it: `review=so+good%21`.

use std::borrow::Cow;

use crate::problem::Problem;

/// The texts of a form.
pub(super) fn reviews<'a>(body: &[u8]) -> Result<Vec<Cow<'a, str>>, Problem> {
    let mut texts = vec![];
    for field in body.split(|&byte| byte == b'&').filter(|field| !field.is_empty()) {
        let Some(value) = field.strip_prefix(b"review=") else {
            return Err(Problem::bad("A form without files has the field `review` alone."));
        };
        let text = String::from_utf8(decoded(value));
        let text = text.map_err(|_| Problem::bad("The text is not UTF-8."))?;
        // A field that was left empty asks nothing.
        if !text.is_empty() {
            texts.push(text.into());
        }
    }
    Ok(texts)
}

/// Plus is a space, `%41` a byte; a percent sign that begins no byte is itself.
fn decoded(value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&byte, next)) = rest.split_first() {
        rest = next;
        let digits = next.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match (byte, digits.and_then(|digits| u8::from_str_radix(digits, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &next[2..];
            }
            (b'+', _) => bytes.push(b' '),
            (byte, _) => bytes.push(byte),
        }
    }
    bytes
}
