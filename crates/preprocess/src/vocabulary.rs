//! Words are ranked by how often they occur.

use std::collections::HashMap;

use crate::text::words;

/// The most words a vocabulary may have, and the most bytes of them all: they travel in every model.
const MOST_WORDS: usize = 200_000;
const MOST_BYTES: usize = 4 << 20;

/// Why a vocabulary is too large to travel with a model.
pub fn too_large(vocabulary: &[String]) -> Option<String> {
    let bytes: usize = vocabulary.iter().map(String::len).sum();
    (vocabulary.len() > MOST_WORDS || bytes > MOST_BYTES).then(|| {
        format!(
            "{} words of {bytes} bytes in all are too many to travel with a model; the limits are \
             {MOST_WORDS} and {MOST_BYTES}; choose a smaller `vocabulary_size`",
            vocabulary.len()
        )
    })
}

/// Counts words.
#[derive(Debug, Default)]
pub struct Tally {
    counts: HashMap<String, u64>,
}

impl Tally {
    /// Counts the words of one more text.
    pub fn add(&mut self, text: &str) {
        words(text, |word| match self.counts.get_mut(word) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(word.to_owned(), 1)),
        });
    }

    /// The most frequent words; of equally frequent ones, those first that come first byte by byte, so
    /// that the order of texts makes no difference.
    pub fn ranked(self, most: usize) -> Vec<String> {
        let mut counted: Vec<(String, u64)> = self.counts.into_iter().collect();
        counted.sort_unstable_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
        counted.into_iter().take(most).map(|(word, _)| word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_come_first_and_ties_by_alphabet() {
        let texts = ["b a c", "c d, C", "a! b"];
        let ranked = |order: &[usize], most| {
            let mut tally = Tally::default();
            order.iter().for_each(|&text| tally.add(texts[text]));
            tally.ranked(most)
        };
        assert_eq!(ranked(&[0, 1, 2], 9), ["c", "a", "b", "d"]);
        assert_eq!(ranked(&[2, 1, 0], 2), ["c", "a"]);
    }

    #[test]
    fn a_vocabulary_has_a_limit() {
        assert!(too_large(&vec!["word".to_owned(); 10_000]).is_none());
        assert!(too_large(&vec!["w".repeat(1000); 10_000]).is_some());
    }
}
