//! Which column of a table is what.

use crate::csv::Row;
use crate::error::{DataError, Result};

/// Which column is what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) all: usize,
    pub(crate) label: usize,
    /// The column of texts; where there is none, all others are numbers.
    pub(crate) text: Option<usize>,
    /// Whether the first row names them.
    pub(crate) header: bool,
}

impl Columns {
    /// Finds out which column is what from the first two rows and what is wanted.
    pub(crate) fn of(rows: &[Row], (label, text): (Option<&str>, Option<&str>)) -> Result<Columns> {
        let Some(first) = rows.first() else {
            return Err(DataError::malformed("has no rows"));
        };
        let names: Vec<String> =
            first.fields.iter().map(|name| name.trim().to_lowercase()).collect();
        // A number is a column's place, never its name.
        let named = |name: &str| {
            let is = |known: &String| *known == name.trim().to_lowercase();
            names.iter().position(is).filter(|_| name.parse::<usize>().is_err())
        };
        let is_number = |row: &Row| row.fields.iter().any(|field| number(field).is_some());
        let header = [label.unwrap_or("label"), text.unwrap_or("text")]
            .into_iter()
            .any(|name| named(name).is_some())
            || (!is_number(first) && rows.get(1).is_some_and(is_number));
        let all = first.fields.len();
        let find = |what: &str, wanted: Option<&str>| match wanted {
            None => Ok(named(what).filter(|_| header)),
            Some(wanted) => named(wanted)
                .filter(|_| header)
                .or_else(|| wanted.parse::<usize>().ok()?.checked_sub(1).filter(|&at| at < all))
                .map(Some)
                .ok_or_else(|| {
                    DataError::malformed(format!(
                        "line {} has no column `{wanted}`, which `data.{what}` names; it has {}",
                        first.line,
                        first.fields.join(", ").chars().take(200).collect::<String>()
                    ))
                }),
        };
        let mut text = find("text", text)?;
        let label = find("label", label)?.unwrap_or(all - 1);
        if all < 2 || text == Some(label) {
            return Err(DataError::malformed(
                "needs a column for the class and another for the sample",
            ));
        }
        // Two columns, one of the class and one that is no number: a text.
        let sample = rows.get(usize::from(header)).filter(|_| all == 2 && text.is_none());
        if sample.is_some_and(|row| {
            row.fields.get(1 - label.min(1)).is_some_and(|field| number(field).is_none())
        }) {
            text = Some(1 - label);
        }
        Ok(Columns { all, label, text, header })
    }
}

/// A field as a number; infinities are none.
pub(crate) fn number(field: &str) -> Option<f32> {
    field.trim().parse::<f32>().ok().filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::Rows;

    fn columns(text: &str, wanted: (Option<&str>, Option<&str>)) -> Result<Columns> {
        let rows: Vec<Row> = Rows::new(text.as_bytes(), b',').map(Result::unwrap).collect();
        Columns::of(&rows, wanted)
    }

    fn found(text: &str, wanted: (Option<&str>, Option<&str>)) -> (usize, Option<usize>, bool) {
        let columns = columns(text, wanted).unwrap();
        (columns.label, columns.text, columns.header)
    }

    #[test]
    fn headers_and_columns_are_found() {
        let none = (None, None);
        assert_eq!(found("5.1,3.5,setosa\n1,2,x", none), (2, None, false));
        assert_eq!(found("length,width,species\n1,2,x", none), (2, None, true));
        assert_eq!(found("Label,a,b\n1,2,3", none), (0, None, true));
        assert_eq!(found("text,label\nhello,pos", none), (1, Some(0), true));
        assert_eq!(found("hello there,pos\nbye,neg", none), (1, Some(0), false));
        assert_eq!(
            found("review,sentiment\nx,pos", (Some("sentiment"), Some("review"))),
            (1, Some(0), true)
        );
        assert_eq!(found("1,2,3", (Some("1"), None)), (0, None, false));
        assert_eq!(found("pos,hello\nneg,bye", (Some("1"), None)), (0, Some(1), false));
    }

    #[test]
    fn columns_that_are_not_there_are_named() {
        let error = columns("a,b\n1,2", (Some("c"), None)).unwrap_err().to_string();
        assert!(error.contains("no column `c`") && error.contains("it has a, b"), "{error}");
        assert!(columns("a\nb", (None, None)).is_err());
        assert!(columns("", (None, None)).is_err());
        assert!(columns("a,b\n1,2", (Some("a"), Some("a"))).is_err());
        assert!(columns("1,2", (Some("3"), None)).is_err());
        assert!(columns("1,2", (Some("0"), None)).is_err());
    }
}
