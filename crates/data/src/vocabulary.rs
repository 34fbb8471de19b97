//! A vocabulary that the user brings: Keras' word index, or a word a line.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use preprocess::Text;

use crate::error::{DataError, Result};

/// Keras' index of 88,584 words has 1.6 MB.
const MOST: u64 = 64 << 20;

/// Reads the words that have an id below `size`, by rank.
pub(crate) fn read(path: &Path, size: u32) -> Result<Vec<String>> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST + 1).read_to_string(&mut text))
        .map_err(DataError::io("read", path))?;
    if text.len() as u64 > MOST {
        let problem = format!("has more than {MOST} bytes, and a vocabulary has not");
        return Err(DataError::malformed(problem).in_file(path));
    }
    parse(&text, Text::words(size)).map_err(|error| error.in_file(path))
}

/// Reads `{"the": 1, …}`, or lines; the first `most` ranks.
pub(crate) fn parse(text: &str, most: usize) -> Result<Vec<String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.trim_start().starts_with('{') {
        return Ok(text.lines().take(most).map(|line| line.trim().to_lowercase()).collect());
    }
    let ranks: HashMap<String, u64> = serde_json::from_str(text).map_err(|error| {
        DataError::malformed(format!(
            "{error}; a vocabulary is a JSON object of words and their ranks, or a word a line"
        ))
    })?;
    let last = ranks.values().copied().filter(|&rank| rank <= most as u64).max().unwrap_or(0);
    let mut words = vec![String::new(); last as usize];
    for (word, rank) in ranks {
        let Some(place) = rank.checked_sub(1) else {
            return Err(DataError::malformed(format!("`{word}` has rank 0; ranks count from 1")));
        };
        let Some(place) = words.get_mut(place as usize) else { continue };
        if !place.is_empty() {
            let problem = format!("`{place}` and `{word}` both have rank {rank}");
            return Err(DataError::malformed(problem));
        }
        *place = word;
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_or_lines() {
        let json = r#"{"movie": 4, "the": 1, "rare": 88584, "and": 2}"#;
        assert_eq!(parse(json, 10).unwrap(), ["the", "and", "", "movie"]);
        assert_eq!(parse(json, 2).unwrap(), ["the", "and"]);
        assert_eq!(parse("the\nAnd\r\n", 10).unwrap(), ["the", "and"]);
        for (broken, why) in [
            (r#"{"a": 0}"#, "rank 0"),
            (r#"{"a": 1, "b": 1}"#, "both have rank 1"),
            (r#"{"a": "b"}"#, "a JSON object of words"),
            ("{", "a JSON object of words"),
        ] {
            let error = parse(broken, 10).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
