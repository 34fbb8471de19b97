//! Asks a model what its server would be asked, without one.

use std::path::Path;

use anyhow::{Context, anyhow};
use engine::{Cpu, Input, Jury};
use serve::{Answers, Kind, Limits, Read, Served, Word};

use super::BATCH;
use super::question::{self, Question};
use crate::failure::{Failure, OrUsage};

/// A model that is asked, and what it answered so far.
pub(super) struct Asking<'a> {
    served: &'a Served,
    jury: Jury<'a>,
    /// Samples of files of samples so far.
    numbered: usize,
    /// What each answer answers: a file, a text, or the number of a sample.
    pub(super) names: Vec<String>,
    pub(super) answers: Answers,
}

impl<'a> Asking<'a> {
    pub(super) fn new(served: &'a Served, cpu: Cpu) -> Result<Self, Failure> {
        let jury = served.jury(cpu)?;
        Ok(Asking { served, jury, numbered: 0, names: vec![], answers: Answers::default() })
    }

    /// Asks all questions, in order.
    pub(super) fn ask(&mut self, questions: &[Question]) -> Result<(), Failure> {
        let together = |a: &Question, b: &Question| {
            !matches!(a, Question::Arrays(_)) && !matches!(b, Question::Arrays(_))
        };
        for group in questions.chunk_by(together) {
            match group {
                [Question::Arrays(path)] => self.arrays(path)?,
                // No more of them are in memory than are computed at a time.
                others => others.chunks(BATCH).try_for_each(|some| self.some(some).or_usage())?,
            }
        }
        let Some(gallery) = self.served.gallery() else { return Ok(()) };
        for near in self.answers.nearest.iter_mut().flatten() {
            // Without a server there is no address to look at, but the file itself.
            near.picture =
                gallery.file(near).map_or(String::new(), |file| file.display().to_string());
        }
        Ok(())
    }

    fn arrays(&mut self, path: &Path) -> Result<(), Failure> {
        let model = self.served.published().first();
        let (graph, scale) = (&model.graph, model.card.input.scale);
        let inputs = data::inputs(path, graph.input_shape()).or_usage()?;
        train::check_ids(graph, inputs.x.view()).or_usage()?;
        let count = inputs.len();
        let input = |range| train::input(inputs.rows(range), scale);
        self.answers.extend(self.served.answer(&mut self.jury, count, input));
        self.names.extend((self.numbered..self.numbered + count).map(|number| number.to_string()));
        self.numbered += count;
        Ok(())
    }

    fn some(&mut self, questions: &[Question]) -> anyhow::Result<()> {
        let mut all = Read::default();
        for question in questions {
            let (name, values, words) = self.sample(question)?;
            self.names.push(name);
            all.values.extend(values);
            all.words.extend(words);
            all.count += 1;
        }
        let size = self.served.reader().size();
        let input = |range: std::ops::Range<usize>| {
            Input::Floats(&all.values[range.start * size..range.end * size])
        };
        let answers = self.served.answer(&mut self.jury, all.count, input);
        self.answers.extend(Answers { words: all.words, ..answers });
        Ok(())
    }

    /// The name and the numbers of a picture or a text, and of a text its words.
    fn sample(&self, question: &Question) -> anyhow::Result<(String, Vec<f32>, Option<Vec<Word>>)> {
        match question {
            Question::Arrays(_) => unreachable!("files of samples are asked about alone"),
            Question::Text(text) => {
                let name = format!("{:?}", shortened(text));
                let (values, words) = self.text(text).with_context(|| format!("--text {name}"))?;
                Ok((name, values, Some(words)))
            }
            Question::File(path) => {
                let name = path.display().to_string();
                let bytes = question::read(path)?;
                if self.served.about().kind != Kind::Texts {
                    let values = self.served.reader().picture(&bytes);
                    return Ok((name, values.map_err(|problem| unfit(path, &problem))?, None));
                }
                let text = std::str::from_utf8(&bytes).map_err(|_| {
                    anyhow!("{name} is not UTF-8, and the model takes texts; name another file")
                })?;
                let (values, words) = self.text(text).with_context(|| name.clone())?;
                Ok((name, values, Some(words)))
            }
        }
    }

    fn text(&self, text: &str) -> anyhow::Result<(Vec<f32>, Vec<Word>)> {
        let (len, most) = (text.len(), Limits::default().text);
        if len > most {
            return Err(anyhow!("the text has {len} bytes, and {most} is the most; shorten it"));
        }
        self.served
            .reader()
            .text(text)
            .context("the model takes no texts; `trainyard inspect` says what it takes")
    }
}

fn unfit(path: &Path, problem: &str) -> anyhow::Error {
    anyhow!("{} cannot be used: {problem}; npz and idx files are taken too", path.display())
}

/// The beginning of a text, in a line.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
