//! What is served: a model or an ensemble, ready to answer.

use std::collections::BTreeMap;

use engine::{Cpu, EngineError, Jury, Program};
use model::{Metrics, Published};

use crate::about::About;
use crate::examples::Examples;
use crate::gallery::Gallery;
use crate::kind::Kind;
use crate::reader::Reader;

/// How an ensemble answers as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Combine {
    /// By the mean of all probabilities.
    Mean,
    /// By vote; the mean decides between equals.
    #[default]
    Vote,
}

/// A model with all that answering takes. It never changes: another model is another value.
pub struct Served {
    pub(crate) published: Published,
    pub(crate) kind: Kind,
    pub(crate) reader: Reader,
    pub(crate) about: About,
    pub(crate) combine: Combine,
    pub(crate) gallery: Option<Gallery>,
    pub(crate) examples: Option<Examples>,
    /// Samples that are computed at a time, at most.
    pub(crate) batch: usize,
}

/// Memory that one processor may take for a batch.
const MOST_MEMORY: usize = 512 << 20;

impl Served {
    /// Makes ready what was published. Batches are smaller than asked for where they would take too much memory.
    pub fn new(published: Published, combine: Combine, batch: usize) -> Result<Self, EngineError> {
        let model = published.first();
        let mut batch = batch.max(1);
        while Program::inference(&model.graph, batch)?.memory().total() > MOST_MEMORY && batch > 1 {
            batch /= 2;
        }
        let (kind, reader) = (Kind::of(model), Reader::new(model));
        let about = About::of(&published, kind);
        Ok(Served { published, kind, reader, about, combine, gallery: None, examples: None, batch })
    }

    /// What is told about it.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// The same with faces to compare with.
    pub fn with_gallery(mut self, gallery: Gallery) -> Result<Self, String> {
        if self.kind != Kind::Faces {
            return Err("a gallery is for a model of faces, which this is not".into());
        }
        self.about.people = Some(gallery.people());
        if self.examples.is_none() {
            self.about.examples = gallery.examples();
        }
        self.gallery = Some(gallery);
        Ok(self)
    }

    /// The same with what was found out about it after its file was written, by split.
    #[must_use]
    pub fn with_results(mut self, results: BTreeMap<String, Metrics>) -> Self {
        self.about.measured(&self.published, results);
        self
    }

    /// The same with pictures to try it with.
    pub fn with_examples(mut self, examples: Examples) -> Result<Self, String> {
        if !matches!(self.kind, Kind::Pictures | Kind::Faces) {
            return Err("pictures are for a model of pictures or faces, which this is not".into());
        }
        self.about.examples = examples.list();
        self.examples = Some(examples);
        Ok(self)
    }

    /// What it was made of.
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// The faces to compare with.
    pub fn gallery(&self) -> Option<&Gallery> {
        self.gallery.as_ref()
    }

    /// How its samples are made.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Somebody who answers in its name, with a session of their own.
    pub fn jury(&self, cpu: Cpu) -> Result<Jury<'_>, EngineError> {
        Jury::new(&self.published, self.batch, cpu)
    }
}
