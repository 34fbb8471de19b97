//! The layout of one run's folder. Every file a run writes has its place here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::publish::sweep;
use crate::{Result, Store, StoreError};

/// One run: `<out>/<name>-<number>/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    /// The folder.
    pub path: PathBuf,
    /// The run file's name.
    pub name: String,
    /// Which run of that name, from 1. A folder that was renamed has 0.
    pub number: u64,
}

impl RunDir {
    /// The run in a folder, whatever the folder is called.
    pub fn at(path: &Path) -> RunDir {
        RunDir::parse(path).unwrap_or_else(|| RunDir {
            path: path.into(),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            number: 0,
        })
    }

    /// What the run is called on a command line: the name of its folder.
    pub fn id(&self) -> String {
        match self.number {
            0 => self.name.clone(),
            number => format!("{}-{number}", self.name),
        }
    }

    /// The folder as a store.
    pub fn store(&self) -> Result<Store> {
        Store::local(&self.path)
    }

    /// What the user asked for, resolved.
    pub fn spec(&self) -> PathBuf {
        self.path.join("spec.yaml")
    }

    /// The tasks.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.json")
    }

    /// Who drives the run, or drove it last.
    pub fn driver(&self) -> PathBuf {
        self.path.join("driver.json")
    }

    /// Held by the driver.
    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("driver.lock")
    }

    /// Everything that happened, a line each.
    pub fn events(&self) -> PathBuf {
        self.path.join("events.jsonl")
    }

    /// What one process of a task printed.
    pub fn log(&self, task: &str, process: usize) -> PathBuf {
        self.logs().join(format!("{task}.{process}.log"))
    }

    /// The logs of a task's processes, by the number of each.
    pub fn logs_of(&self, task: &str) -> BTreeMap<usize, PathBuf> {
        let entries = std::fs::read_dir(self.logs()).into_iter().flatten().flatten();
        let numbered = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix(task)?.strip_prefix('.')?.strip_suffix(".log")?;
            Some((number.parse().ok()?, entry.path()))
        });
        numbered.collect()
    }

    /// The folder of logs.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// What a prepare step made.
    pub fn data(&self, step: &str) -> PathBuf {
        self.path.join("data").join(step)
    }

    /// The folder of checkpoints, one folder for each.
    pub fn checkpoints(&self) -> PathBuf {
        self.path.join("checkpoints")
    }

    /// The folder of a model the run made.
    pub fn model(&self, name: &str) -> PathBuf {
        self.path.join("models").join(name)
    }

    /// The end of the run, in numbers. A run is done when this is written.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// Where the run's page is, while it is shown; readable by the owner only.
    pub fn page(&self) -> PathBuf {
        self.path.join("page.json")
    }

    /// How other processes join the run; readable by the owner only.
    pub fn join(&self) -> PathBuf {
        self.path.join("join.json")
    }

    /// What the driver is known by to those who join, kept for the next driver of the run; readable by
    /// the owner only.
    pub fn driver_key(&self) -> PathBuf {
        self.path.join("driver.key")
    }

    /// Removes what killed processes left unfinished. Only for who alone writes there.
    pub fn sweep(&self) -> Result<()> {
        let place = self.path.display().to_string();
        sweep(&self.path).map_err(|error| StoreError::io(error, "the run", &place))
    }

    /// Reads a folder's name as `<name>-<number>`.
    pub(crate) fn parse(path: &Path) -> Option<RunDir> {
        let (name, number) = path.file_name()?.to_str()?.rsplit_once('-')?;
        crate::check_name(name).ok()?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if !digits || number.starts_with('0') {
            return None;
        }
        Some(RunDir { path: path.to_path_buf(), name: name.into(), number: number.parse().ok()? })
    }
}
