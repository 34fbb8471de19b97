//! How what people have becomes a sample: facts that travel with a model.

use serde::{Deserialize, Serialize};
use spec::{Color, Data, Pair};

/// What a sample is made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Numbers, taken as they are.
    #[default]
    Numbers,
    /// A picture, which becomes pixels of one size.
    Pixels(Pixels),
    /// A text, which becomes the ids of its words.
    Text(Text),
}

/// How a picture becomes pixels: decoded, upright, in colour or grey, resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pixels {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// What a pixel is.
    pub color: Color,
}

/// How a text becomes ids: as Keras encodes IMDB.
///
/// A text begins with the id `start`. A word is its rank, counted from 1, plus `offset`; one that has
/// no rank, or whose id would not be below `size`, is `unknown`. Longer texts lose their beginning,
/// shorter ones have zeros in front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// Words by rank, the first one first. A rank that no word has is an empty one.
    pub vocabulary: Vec<String>,
    /// Ids are below this.
    pub size: u32,
    /// How many ids a sample has.
    pub length: usize,
    /// The id that a text begins with.
    pub start: u32,
    /// The id of every word without one.
    pub unknown: u32,
    /// What is added to a rank.
    pub offset: u32,
}

impl Form {
    /// Whether samples are numbers, of which there is nothing more to say.
    pub fn is_numbers(&self) -> bool {
        *self == Form::Numbers
    }

    /// Asks of data what samples of this form are made by, where that is for the run file to say.
    pub fn ask_of(&self, data: &mut Data) {
        if let Form::Pixels(Pixels { height, width, color }) = *self {
            (data.image_size, data.color) = (Some(Pair { height, width }), Some(color));
        }
    }

    /// What is wrong with a form that came from a file.
    pub fn problem(&self) -> Option<String> {
        match self {
            Form::Numbers => None,
            Form::Pixels(pixels) => pixels.problem(),
            Form::Text(text) => text.problem(),
        }
    }
}

impl Pixels {
    /// The shape of a sample.
    pub fn shape(&self) -> [usize; 3] {
        [self.height, self.width, self.color.channels()]
    }

    fn problem(&self) -> Option<String> {
        let fits = |side: usize| (1..=1 << 16).contains(&side);
        let problem = || format!("no picture has {} by {} pixels", self.height, self.width);
        (!fits(self.height) || !fits(self.width)).then(problem)
    }
}

impl Text {
    /// Keras' encoding with words of these ranks.
    pub fn new(vocabulary: Vec<String>, size: u32, length: usize) -> Text {
        let mut text = Text { vocabulary, size, length, start: 1, unknown: 2, offset: 3 };
        text.vocabulary.truncate(Text::words(size));
        text
    }

    /// How many words have an id below `size`, where Keras' offset is added.
    pub fn words(size: u32) -> usize {
        size.saturating_sub(4) as usize
    }

    fn problem(&self) -> Option<String> {
        let last = self.vocabulary.len() as u64 + u64::from(self.offset);
        if self.length == 0 || self.length > 1 << 20 {
            Some(format!("a text cannot have {} words", self.length))
        } else if last.max(self.start.into()).max(self.unknown.into()) >= self.size.into() {
            Some(format!("its words do not fit below the id {}", self.size))
        } else {
            None
        }
    }
}
