//! The folder of a user's runs: making a new one, finding one by what the user typed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::publish::{create_folder, sync_folder_of};
use crate::{Result, RunDir, StoreError};

/// All runs of a user: the folders `<name>-<number>` in one place.
#[derive(Clone, Debug)]
pub struct Runs {
    root: PathBuf,
}

impl Runs {
    /// The runs in a folder, which need not be there yet.
    pub fn new(root: impl Into<PathBuf>) -> Runs {
        Runs { root: root.into() }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the folder of a new run. Two that ask at once get two runs.
    pub fn create(&self, name: &str) -> Result<RunDir> {
        check_name(name)?;
        let fail = |error, id: &str| StoreError::io(error, id, &self.root.display().to_string());
        create_folder(&self.root).map_err(|error| fail(error, "the folder of runs"))?;
        let mut number = self.newest(name)?.map_or(1, |run| run.number + 1);
        loop {
            let id = format!("{name}-{number}");
            let path = self.root.join(&id);
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(fail(error, &id)),
                Ok(()) => {
                    sync_folder_of(&path).map_err(|error| fail(error, &id))?;
                    return Ok(RunDir { path, name: name.into(), number });
                }
            }
        }
    }

    /// The run a user means: a `name-number`, a name (its newest run), or the path of a run's folder.
    /// A name may itself end in a number, so a folder of exactly that name comes first.
    pub fn resolve(&self, run: &str) -> Result<RunDir> {
        let as_path = run.contains('/') || run == "." || run == "..";
        if !as_path {
            let exact = RunDir::parse(&self.root.join(run)).filter(|found| found.path.is_dir());
            if let Some(found) = exact {
                return Ok(found);
            }
            if let Some(found) = self.newest(run)? {
                return Ok(found);
            }
        }
        match fs::canonicalize(run) {
            Ok(path) if path.is_dir() => at(path),
            _ => Err(self.unknown(run)?),
        }
    }

    /// The run of a name with the highest number.
    pub fn newest(&self, name: &str) -> Result<Option<RunDir>> {
        let mut runs = self.list()?;
        runs.retain(|run| run.name == name);
        Ok(runs.pop())
    }

    /// All runs, by name and then number.
    pub fn list(&self) -> Result<Vec<RunDir>> {
        let fail =
            |error| StoreError::io(error, "the list of runs", &self.root.display().to_string());
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            other => other.map_err(fail)?,
        };
        let mut runs = Vec::new();
        for entry in entries {
            let path = entry.map_err(fail)?.path();
            runs.extend(RunDir::parse(&path).filter(|_| path.is_dir()));
        }
        runs.sort_by(|a, b| (&a.name, a.number).cmp(&(&b.name, b.number)));
        Ok(runs)
    }

    fn unknown(&self, run: &str) -> Result<StoreError> {
        let mut known: Vec<String> = Vec::new();
        for run in self.list()? {
            known.extend([run.name.clone(), run.id()]);
        }
        known.sort();
        known.dedup();
        let near = |known: &String| strsim::normalized_damerau_levenshtein(run, known);
        known.sort_by(|a, b| near(b).total_cmp(&near(a)).then_with(|| a.cmp(b)));
        if known.first().is_some_and(|best| near(best) >= LIKE) {
            known.retain(|known| near(known) >= LIKE);
        }
        known.truncate(SHOWN);
        Ok(StoreError::UnknownRun {
            run: run.into(),
            root: self.root.display().to_string(),
            nearest: known,
        })
    }
}

/// From this similarity on, a name may be what was meant.
const LIKE: f64 = 0.6;

/// How many names an error lists.
const SHOWN: usize = 5;

/// Whether a run may be called that. Names become host names, hence the narrow rules.
pub fn check_name(name: &str) -> Result<()> {
    let right = name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if right {
        return Ok(());
    }
    Err(StoreError::BadName { name: name.into() })
}

/// The run in a folder given by its path. The folder may have been moved or renamed.
fn at(path: PathBuf) -> Result<RunDir> {
    let folder = path.file_name().unwrap_or_default().to_string_lossy();
    let run = RunDir::parse(&path).unwrap_or(RunDir {
        name: folder.into(),
        number: 0,
        path: path.clone(),
    });
    if run.spec().is_file() {
        return Ok(run);
    }
    Err(StoreError::NotARun { path: path.display().to_string() })
}
