//! Texts by class, as files or as columns, become ids of words.

use preprocess::{Encoder, Form, Tally, Text, too_large};
use spec::Data;

use crate::classes::{Classes, File};
use crate::error::{DataError, Result};
use crate::samples::{Samples, ValueKind, Values};
use crate::skipped::Skipped;
use crate::source::{Raw, Whole};
use crate::tree::Tree;
use crate::vocabulary;

/// A text of more bytes is not one to classify.
const LONGEST: u64 = 16 << 20;

/// Texts are held in memory until their words are counted.
const MOST: usize = 8 << 30;

/// What a text takes beside its bytes, and counting words and unpacking beside all texts.
const PER_TEXT: u64 = 32;
const COUNTING: u64 = 32 << 20;

/// Texts in folders of classes.
#[derive(Debug)]
pub(crate) struct Texts {
    encoding: Encoding,
    tree: Tree,
    classes: Classes,
}

/// How a run file wants texts to become ids.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    vocabulary: Option<String>,
    size: u32,
    length: usize,
}

/// Texts of one split with their classes.
#[derive(Debug, Default)]
pub(crate) struct Split {
    pub(crate) texts: Vec<String>,
    pub(crate) y: Vec<u32>,
}

/// Whether a file is a text by its name.
pub(crate) fn is_text(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("txt"))
}

impl Texts {
    pub(crate) fn new(data: &Data, tree: Tree, classes: Classes) -> Texts {
        Texts { encoding: Encoding::new(data), tree, classes }
    }

    /// What there is, without reading texts.
    pub(crate) fn facts(&self) -> Whole {
        let classes = &self.classes;
        Whole {
            train: classes.train.len(),
            validation: classes.validation.len(),
            test: classes.test.len(),
            classes: classes.names.len(),
            labels: classes.names.clone(),
            shape: vec![self.encoding.length],
            width: self.encoding.kind().width(),
            vocabulary: Some(self.encoding.words()),
            working: self.working(),
        }
    }

    /// The texts, their words being counted, and what an archive takes to unpack.
    fn working(&self) -> u64 {
        let classes = &self.classes;
        let files = classes.train.iter().chain(&classes.validation).chain(&classes.test);
        let texts = files.map(|file| self.tree.entries[file.entry].size + PER_TEXT).sum::<u64>();
        texts + COUNTING + 100 * self.tree.entries.len() as u64
    }

    /// Reads everything.
    pub(crate) fn load(&self) -> Result<Raw> {
        self.encode(self.read_all()?)
    }

    /// Reads the texts to train, to validate and to test on.
    pub(crate) fn read_all(&self) -> Result<[Split; 3]> {
        let classes = &self.classes;
        let read = |files| self.read(files);
        Ok([read(&classes.train)?, read(&classes.validation)?, read(&classes.test)?])
    }

    /// Turns them into samples.
    pub(crate) fn encode(&self, splits: [Split; 3]) -> Result<Raw> {
        self.encoding.encode(splits, self.classes.names.clone())
    }

    fn read(&self, files: &[File]) -> Result<Split> {
        let wanted: Vec<usize> = files.iter().map(|file| file.entry).collect();
        let mut texts = vec![String::new(); files.len()];
        let mut bytes = 0;
        self.tree.each(&wanted, LONGEST, &mut |place, read| {
            let name = || self.tree.name(&self.tree.entries[wanted[place]]);
            let read = read.map_err(|problem| DataError::Malformed { place: name(), problem })?;
            bytes += read.len();
            if bytes > MOST {
                return Err(DataError::malformed("is more text than fits in memory")
                    .in_file(self.tree.root()));
            }
            texts[place] = text_of(read);
            Ok(())
        })?;
        Ok(Split { texts, y: files.iter().map(|file| file.class).collect() })
    }
}

/// Bytes as text: what is not UTF-8 becomes the sign for that, and is no word.
pub(crate) fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl Encoding {
    pub(crate) fn new(data: &Data) -> Encoding {
        Encoding {
            vocabulary: data.vocabulary.clone(),
            size: data.vocabulary_size.unwrap_or(10_000) as u32,
            length: data.length.unwrap_or(500),
        }
    }

    /// What ids are in memory.
    pub(crate) fn kind(&self) -> ValueKind {
        ValueKind::of_ids(self.size)
    }

    /// Ids are below this.
    pub(crate) fn words(&self) -> usize {
        self.size as usize
    }

    /// How many ids a sample has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Training, validation and test texts become samples.
    pub(crate) fn encode(&self, splits: [Split; 3], labels: Vec<String>) -> Result<Raw> {
        let [train, validation, test] = splits;
        let words = match &self.vocabulary {
            Some(path) => vocabulary::read(path.as_ref(), self.size)?,
            None => {
                let mut tally = Tally::default();
                train.texts.iter().for_each(|text| tally.add(text));
                tally.ranked(Text::words(self.size))
            }
        };
        let form = Text::new(words, self.size, self.length);
        if let Some(problem) = too_large(&form.vocabulary) {
            return Err(DataError::Impossible(problem));
        }
        let encoder = Encoder::new(&form);
        let some = |split: Split| match split.y.is_empty() {
            true => Ok(None),
            false => self.samples(&encoder, split, labels.len()).map(Some),
        };
        let (validation, test) = (some(validation)?, some(test)?);
        let train = self.samples(&encoder, train, labels.len())?;
        let skipped = Skipped::default();
        Ok(Raw { train, validation, test, labels, form: Form::Text(form), skipped })
    }

    fn samples(&self, encoder: &Encoder, split: Split, classes: usize) -> Result<Samples> {
        let ids = split.texts.iter().flat_map(|text| encoder.sample(text));
        let x = match self.kind() {
            ValueKind::U16 => Values::U16(ids.map(|id| id as u16).collect()),
            _ => Values::U32(ids.collect()),
        };
        Samples::new(vec![self.length], x, split.y, Some(classes))
    }
}
