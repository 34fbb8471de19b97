//! Comma-separated values (RFC 4180): fields in quotes may hold commas, line ends and doubled quotes.
//! Lines end as they end on any system, and a byte-order mark is passed over.

use crate::error::{DataError, Result};

/// A row: the line it starts on, from 1, and its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line it starts on, from 1.
    pub line: usize,
    /// Its fields.
    pub fields: Vec<String>,
}

/// No row has more fields.
const MOST_FIELDS: usize = 1 << 20;

/// Reads rows one after another. Empty lines are no rows.
#[derive(Debug)]
pub struct Rows<'a> {
    bytes: &'a [u8],
    separator: u8,
    line: usize,
}

impl<'a> Rows<'a> {
    /// Begins at the top.
    pub fn new(bytes: &'a [u8], separator: u8) -> Rows<'a> {
        Rows { bytes: bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), separator, line: 1 }
    }

    /// Reads one field and what ends it: whether the row goes on.
    fn field(&mut self) -> Result<(String, bool)> {
        let start = self.line;
        let mut field = Vec::new();
        if self.bytes.first() == Some(&b'"') {
            self.bytes = &self.bytes[1..];
            self.quoted(&mut field, start)?;
        } else {
            let stops = |&byte: &u8| byte == self.separator || byte == b'\n' || byte == b'\r';
            let end = self.bytes.iter().position(stops).unwrap_or(self.bytes.len());
            field.extend_from_slice(&self.bytes[..end]);
            self.bytes = &self.bytes[end..];
        }
        let goes_on = self.end(start)?;
        let field = String::from_utf8(field)
            .map_err(|_| wrong(start, "is not UTF-8; save the file as UTF-8"))?;
        Ok((field, goes_on))
    }

    /// Reads up to the closing quote.
    fn quoted(&mut self, field: &mut Vec<u8>, start: usize) -> Result<()> {
        loop {
            let end = self.bytes.iter().position(|&byte| byte == b'"');
            let end = end.ok_or_else(|| wrong(start, "opens a quote that is never closed"))?;
            let (inner, rest) = self.bytes.split_at(end);
            self.line += inner.iter().filter(|&&byte| byte == b'\n').count();
            field.extend_from_slice(inner);
            self.bytes = &rest[1..];
            // Two quotes stand for one.
            if self.bytes.first() != Some(&b'"') {
                return Ok(());
            }
            field.push(b'"');
            self.bytes = &self.bytes[1..];
        }
    }

    /// Passes over what ends a field; says whether the row goes on.
    fn end(&mut self, start: usize) -> Result<bool> {
        let (passed, goes_on) = match self.bytes {
            [] => (0, false),
            [byte, ..] if *byte == self.separator => (1, true),
            [b'\r', b'\n', ..] => (2, false),
            [b'\n' | b'\r', ..] => (1, false),
            _ => return Err(wrong(start, "goes on after a closing quote")),
        };
        self.bytes = &self.bytes[passed..];
        self.line += usize::from(passed > 0 && !goes_on);
        Ok(goes_on)
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        while let [b'\n' | b'\r', ..] = self.bytes {
            self.line += usize::from(self.bytes[0] == b'\n');
            self.bytes = &self.bytes[1..];
        }
        if self.bytes.is_empty() {
            return None;
        }
        let line = self.line;
        let mut fields = Vec::new();
        loop {
            match self.field() {
                Ok((field, goes_on)) => {
                    fields.push(field);
                    if !goes_on {
                        return Some(Ok(Row { line, fields }));
                    }
                }
                Err(error) => {
                    self.bytes = &[];
                    return Some(Err(error));
                }
            }
            if fields.len() > MOST_FIELDS {
                self.bytes = &[];
                return Some(Err(wrong(line, &format!("has more than {MOST_FIELDS} fields"))));
            }
        }
    }
}

/// Something is wrong on a line.
fn wrong(line: usize, problem: &str) -> DataError {
    DataError::malformed(problem).in_place(&format!("line {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
        Rows::new(text.as_bytes(), b',')
            .map(|row| row.unwrap())
            .map(|row| (row.line, row.fields))
            .collect()
    }

    fn row(line: usize, fields: &[&str]) -> (usize, Vec<String>) {
        (line, fields.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn quotes_and_line_ends() {
        let text = "\u{feff}a,b\r\n\"x, \"\"y\"\"\nz\",1\n\n,\n\"\",é";
        let expected = [
            row(1, &["a", "b"]),
            row(2, &["x, \"y\"\nz", "1"]),
            row(5, &["", ""]),
            row(6, &["", "é"]),
        ];
        assert_eq!(rows(text), expected);
        assert_eq!(rows("a\rb"), [row(1, &["a"]), row(2, &["b"])]);
        assert_eq!(rows(""), []);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in
            [("a\n\"b", "line 2: opens a quote"), ("\"a\"b", "line 1: goes on after")]
        {
            let error = Rows::new(text.as_bytes(), b',').find_map(Result::err).unwrap();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = Rows::new(b"a\n\xff", b',').find_map(Result::err).unwrap();
        assert!(error.to_string().contains("not UTF-8"), "{error}");
    }
}
