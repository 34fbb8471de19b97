//! Texts become ids of words, as Keras' Tokenizer and its IMDB dataset do it.

use std::collections::HashMap;

use crate::form::Text;

/// What separates words: Keras' filters and the space, and the return of Windows' line ends. The
/// apostrophe is part of a word.
const SEPARATORS: &str = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n\r ";

/// Calls `each` with the words of a text, in lower case.
pub fn words(text: &str, mut each: impl FnMut(&str)) {
    let lower = text.to_lowercase();
    // All separators are ASCII, so a table of bytes finds them and never cuts a character.
    let is_separator = |c: char| c.is_ascii() && SEPARATORS.contains(c);
    lower.split(is_separator).filter(|word| !word.is_empty()).for_each(&mut each);
}

/// Turns texts into ids.
#[derive(Debug)]
pub struct Encoder {
    length: usize,
    start: u32,
    unknown: u32,
    ids: HashMap<String, u32>,
}

impl Encoder {
    /// Learns the ids of all words.
    pub fn new(text: &Text) -> Encoder {
        let named =
            text.vocabulary.iter().zip(text.offset + 1..).filter(|(word, _)| !word.is_empty());
        let mut ids = HashMap::with_capacity(text.vocabulary.len());
        for (word, id) in named {
            // The better rank counts.
            ids.entry(word.clone()).or_insert(id);
        }
        let Text { length, start, unknown, .. } = *text;
        Encoder { length, start, unknown, ids }
    }

    /// Whether a word, in lower case, has an id of its own.
    pub fn knows(&self, word: &str) -> bool {
        self.ids.contains_key(word)
    }

    /// The ids of a text, however many.
    pub fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = vec![self.start];
        words(text, |word| ids.push(self.ids.get(word).copied().unwrap_or(self.unknown)));
        ids
    }

    /// A text as a sample.
    pub fn sample(&self, text: &str) -> Vec<u32> {
        let ids = self.ids(text);
        let kept = &ids[ids.len().saturating_sub(self.length)..];
        let mut sample = vec![0; self.length - kept.len()];
        sample.extend_from_slice(kept);
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(size: u32, length: usize) -> Text {
        let words = ["the", "it's", "", "movie", "br"].map(str::to_owned);
        Text::new(words.to_vec(), size, length)
    }

    #[test]
    fn words_are_cut_as_keras_cuts_them() {
        let mut found = Vec::new();
        words("It's a MOVIE.<br /><br />Not\r\n\"bad\", état-major!", |word| {
            found.push(word.to_owned());
        });
        assert_eq!(found, ["it's", "a", "movie", "br", "br", "not", "bad", "état", "major"]);
    }

    #[test]
    fn ids_start_with_one_and_the_front_is_padded_or_lost() {
        let form = form(100, 6);
        let encoder = Encoder::new(&form);
        assert!(encoder.knows("movie") && !encoder.knows("unheard"));
        assert_eq!(encoder.ids("The movie: it's unheard"), [1, 4, 7, 5, 2]);
        assert_eq!(encoder.sample("The movie: it's unheard"), [0, 1, 4, 7, 5, 2]);
        assert_eq!(encoder.sample("the the the movie movie br br"), [4, 4, 7, 7, 8, 8]);
        assert_eq!(encoder.sample(""), [0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn words_beyond_the_size_are_unknown() {
        let form = form(8, 3);
        assert_eq!(form.vocabulary.len(), 4);
        assert_eq!(Encoder::new(&form).ids("movie br"), [1, 7, 2]);
    }
}
