//! What is to be served, as the command line names it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use model::{Ensemble, Model, Published};
use serve::{Combine, Gallery, Served};
use sha2::{Digest, Sha256};

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::{find, output};

/// What a user wants served.
pub(super) struct Source {
    pub(super) names: Vec<String>,
    pub(super) combine: Combine,
    pub(super) batch: usize,
    pub(super) gallery: Option<PathBuf>,
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
        let files = paths.flat_map(|path| match path.is_dir() {
            true => files_of(&path),
            false => vec![path],
        });
        let state = |path: PathBuf| {
            let about = path.metadata().ok()?;
            Some((path, about.modified().ok()?, about.len()))
        };
        files.filter_map(state).collect()
    }

    /// Loads it all.
    pub(super) fn load(&self) -> Result<Served, Failure> {
        let mut models = vec![];
        for name in &self.names {
            for path in self.paths(name)? {
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
        let served = Served::new(published, self.combine, self.batch)?;
        let Some(folder) = &self.gallery else { return Ok(served) };
        let kept = self.kept(folder)?;
        let tell = |line: &str| output::talk(line);
        let gallery = Gallery::open(folder, &served, &kept, self.env.isa(), tell);
        let gallery =
            gallery.with_context(|| format!("--gallery {}", folder.display())).or_usage()?;
        served.with_gallery(gallery).map_err(|problem| Failure::Usage(anyhow!(problem)))
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

    /// Where the embeddings of a gallery are kept.
    fn kept(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        let folder = crate::env::absolute(folder)?;
        let name = Sha256::digest(folder.as_os_str().as_encoded_bytes());
        let name: String = name.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Ok(self.env.surroundings.cache.join("galleries").join(format!("{name}.json")))
    }
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
