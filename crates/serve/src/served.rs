//! What is served: a model or an ensemble, ready to answer.

use engine::{Cpu, EngineError, Isa, Jury, Program};
use model::Published;

use crate::about::About;
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
        while batch > 1 && Program::inference(&model.graph, batch)?.memory().total() > MOST_MEMORY {
            batch /= 2;
        }
        Program::inference(&model.graph, batch)?;
        let (kind, reader) = (Kind::of(model), Reader::new(model));
        let about = About::of(&published, kind);
        Ok(Served { published, kind, reader, about, combine, gallery: None, batch })
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
        self.gallery = Some(gallery);
        Ok(self)
    }

    /// A processor's share of the work.
    pub(crate) fn jury(&self, isa: Isa) -> Result<Jury<'_>, EngineError> {
        Jury::new(&self.published, self.batch, Cpu::new(1, isa))
    }
}
