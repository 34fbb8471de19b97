//! What is to be served, as a command line or a run names it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use model::{Ensemble, Model, Published};
use serve::{Combine, Examples, Served};

use super::results;
use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, gallery};

/// What a user wants served.
pub(super) struct Source {
    pub(super) names: Vec<String>,
    pub(super) combine: Combine,
    pub(super) batch: usize,
    pub(super) gallery: Option<PathBuf>,
    pub(super) examples: Option<PathBuf>,
    pub(super) env: Env,
}

/// What tells one state of the files from another.
pub(super) type Version = Vec<(PathBuf, SystemTime, u64)>;

/// Files that a folder of models has.
const MODELS: [&str; 3] = ["h5", "keras", "safetensors"];

impl Source {
    /// The state of the files that would be served now.
    pub(super) fn version(&self) -> Version {
        let paths = self.names.iter().flat_map(|name| self.paths(name).unwrap_or_default());
        let files = paths.flat_map(|path| {
            let report = results::report_of(&path);
            let files = if path.is_dir() { files_of(&path) } else { vec![path] };
            files.into_iter().chain(report)
        });
        let state = |path: PathBuf| {
            let about = path.metadata().ok()?;
            Some((path, about.modified().ok()?, about.len()))
        };
        files.filter_map(state).collect()
    }

    /// Loads it all.
    pub(super) fn load(&self) -> Result<Served, Failure> {
        let (mut models, mut reports) = (vec![], vec![]);
        for name in &self.names {
            for path in self.paths(name)? {
                reports.push(results::report_of(&path));
                let from = path.display().to_string();
                match Published::open(&path).or_usage()? {
                    Published::One(model) => models.push((from, *model)),
                    Published::Many(all) => {
                        models.extend(
                            all.members().iter().map(|model| (from.clone(), model.clone())),
                        );
                    }
                }
            }
        }
        let published = match <[(String, Model); 1]>::try_from(models) {
            Ok([(_, model)]) => Published::from(model),
            Err(models) => Published::Many(Ensemble::of(models).or_usage()?),
        };
        let mut served = Served::new(published, self.combine, self.batch)?;
        if let [Some(report)] = reports.as_slice() {
            let found = results::results(report, &served.about().weights_sha256);
            served = served.with_results(found);
        }
        let served = match &self.gallery {
            Some(folder) => gallery::add(served, folder, &self.env)?,
            None => served,
        };
        match &self.examples {
            Some(folder) => with_examples(served, folder).or_usage(),
            None => Ok(served),
        }
    }

    /// Where a name leads: to one model, or to all of a folder.
    fn paths(&self, name: &str) -> Result<Vec<PathBuf>, Failure> {
        let path = Path::new(name);
        if path.is_dir() && !Published::is_at(path) {
            let files = files_of(path);
            if !files.is_empty() {
                return Ok(files);
            }
        }
        Ok(vec![find::model_path(name, &self.env)?])
    }
}

/// A model with pictures to try it with.
fn with_examples(served: Served, folder: &Path) -> anyhow::Result<Served> {
    let shown = || format!("the examples of {}", folder.display());
    let is_picture = |path: &Path| path.to_str().is_some_and(data::is_picture);
    let examples = Examples::open(folder, &served, is_picture).with_context(shown)?;
    served.with_examples(examples).map_err(anyhow::Error::msg).with_context(shown)
}

/// The model files of a folder, by name.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_model = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_file() && extension.is_some_and(|extension| MODELS.contains(&extension))
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_model).collect();
    files.sort();
    files
}
