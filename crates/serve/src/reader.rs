//! Questions become samples, by what the model's card says.

use std::borrow::Cow;

use model::{Model, is_word};
use preprocess::{Encoder, Form, Picture, Pixels, digit, words};
use serde::Serialize;

use crate::asked::{Asked, Nested};
use crate::kind::{Kind, pixels};

/// Turns what people have into samples of one model.
#[derive(Debug)]
pub struct Reader {
    kind: Kind,
    shape: Vec<usize>,
    /// Ids are below this, where samples are ids of words.
    vocabulary: Option<usize>,
    pictures: Option<Pixels>,
    /// What each byte of a picture is multiplied by.
    scale: f32,
    texts: Option<Encoder>,
}

/// Samples, one after another, and what was read of each text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    /// How many samples.
    pub count: usize,
    /// Their numbers.
    pub values: Vec<f32>,
    /// Of texts, the words of each.
    pub words: Vec<Vec<Word>>,
}

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Word {
    /// As it was read: in lower case.
    pub word: String,
    /// Whether the model knows it.
    pub known: bool,
}

impl Reader {
    /// How a model's samples are made.
    pub fn new(model: &Model) -> Reader {
        let input = &model.card.input;
        let shape = model.graph.input_shape().to_vec();
        Reader {
            kind: Kind::of(model),
            vocabulary: model.graph.vocabulary(),
            pictures: match input.form {
                Form::Pixels(pixels) => Some(pixels),
                Form::Text(_) => None,
                Form::Numbers => pixels(&shape),
            },
            scale: input.scale,
            texts: match &input.form {
                Form::Text(text) => Some(Encoder::new(text)),
                _ => None,
            },
            shape,
        }
    }

    /// The samples that are asked about, or why they are none.
    pub fn read(&self, asked: &Asked<'_>) -> Result<Read, String> {
        match asked {
            Asked::Numbers(numbers) => self.numbers(numbers),
            Asked::Texts(texts) => self.texts(texts),
            Asked::Pictures(pictures) => {
                let mut values = Vec::with_capacity(pictures.len() * self.size());
                for (number, picture) in pictures.iter().enumerate() {
                    let problem = |problem| match pictures.len() {
                        1 => format!("The picture cannot be used: {problem}."),
                        _ => format!("Picture {} cannot be used: {problem}.", number + 1),
                    };
                    values.extend(self.picture(picture).map_err(problem)?);
                }
                Ok(Read { count: pictures.len(), values, words: vec![] })
            }
        }
    }

    /// Numbers of one sample.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    fn numbers(&self, numbers: &Nested) -> Result<Read, String> {
        let Some(count) = numbers.samples(&self.shape) else {
            let (found, shape) = (&numbers.shape, &self.shape);
            return Err(format!(
                "The inputs have the shape {found:?}; the model takes samples of {shape:?}."
            ));
        };
        if let Some(words) = self.vocabulary
            && let Some(id) = numbers.values.iter().find(|&&id| !is_word(id, words))
        {
            return Err(format!("The inputs hold {id}; ids of words are whole and below {words}."));
        }
        Ok(Read { count, values: numbers.values.clone(), words: vec![] })
    }

    fn texts(&self, texts: &[Cow<'_, str>]) -> Result<Read, String> {
        let mut read = Read { count: texts.len(), ..Read::default() };
        for text in texts {
            let (values, words) =
                self.text(text).ok_or("The model takes no texts; /v1/model says what it takes.")?;
            read.values.extend(values);
            read.words.push(words);
        }
        Ok(read)
    }

    /// A text as a sample, and its words; nothing where the model takes no texts.
    pub fn text(&self, text: &str) -> Option<(Vec<f32>, Vec<Word>)> {
        let encoder = self.texts.as_ref()?;
        // Ids are whole numbers far below what a float tells apart.
        let values = encoder.sample(text).into_iter().map(|id| id as f32).collect();
        let mut found = vec![];
        words(text, |word| {
            found.push(Word { word: word.to_owned(), known: encoder.knows(word) });
        });
        Some((values, found))
    }

    /// An image file as a sample, or why it is none.
    pub fn picture(&self, file: &[u8]) -> Result<Vec<f32>, String> {
        let bytes = match (self.kind, self.pictures) {
            (Kind::Digits, _) => digit(Picture::decode_drawing(file)?)?,
            (_, Some(pixels)) => pixels.fit(Picture::decode(file)?),
            (_, None) => return Err("the model takes no pictures".into()),
        };
        Ok(bytes.into_iter().map(|byte| f32::from(byte) * self.scale).collect())
    }
}
