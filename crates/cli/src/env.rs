//! The environment, read here and nowhere else.
//!
//! | variable | meaning |
//! |---|---|
//! | `TRAINYARD_RUNS` | where runs go, unless `--out` says; `./runs` by default |
//! | `TRAINYARD_CACHE` | where downloads are kept; `trainyard` in the user's cache folder by default |
//! | `TRAINYARD_OFFLINE` | set to anything: fetch nothing |
//! | `TRAINYARD_ISA` | compute with `avx512`, `avx2` or `portable` instead of the best there is |
//! | `TRAINYARD_LOG_DIR` | a folder where workers also write their log, to `deploy.log` |
//! | `TRAINYARD_NAMESPACE`, `TRAINYARD_JOB_UID` | where the driver of a run in a cluster is |
//! | `NO_COLOR` | set to anything: no colours |
#![expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]

use std::env::{var, var_os};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use engine::Isa;
use train::Surroundings;

use crate::machine;

/// What the environment and the machine say.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    /// Where runs go.
    pub(crate) runs: PathBuf,
    /// What tasks may use.
    pub(crate) surroundings: Surroundings,
    /// Where workers also write their log.
    pub(crate) log_dir: Option<PathBuf>,
    /// Where it is in a cluster, of a driver there.
    pub(crate) post: Option<Post>,
    /// Whether colours are welcome.
    pub(crate) color: bool,
    /// How many threads can compute at once.
    pub(crate) threads: usize,
    /// How many bytes of memory can be had.
    pub(crate) memory: u64,
}

/// The place of a run's driver in a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// The namespace of its pod.
    pub(crate) namespace: String,
    /// The id of its Job, to which everything of the run belongs.
    pub(crate) job_uid: String,
}

impl Env {
    pub(crate) fn read() -> Result<Self> {
        let path = |name| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = path("TRAINYARD_CACHE")
            .or_else(|| path("XDG_CACHE_HOME").map(|cache| cache.join("trainyard")))
            .or_else(|| path("HOME").map(|home| home.join(".cache/trainyard")))
            .unwrap_or_else(|| std::env::temp_dir().join("trainyard-cache"));
        let isa = var("TRAINYARD_ISA").ok().filter(|name| !name.is_empty());
        isa.as_deref().map(check_isa).transpose()?;
        let offline = path("TRAINYARD_OFFLINE").is_some();
        Ok(Env {
            runs: path("TRAINYARD_RUNS").unwrap_or_else(|| PathBuf::from("runs")),
            surroundings: Surroundings { isa, cache: absolute(&cache)?, offline },
            log_dir: path("TRAINYARD_LOG_DIR"),
            post: var("TRAINYARD_NAMESPACE")
                .ok()
                .zip(var("TRAINYARD_JOB_UID").ok())
                .map(|(namespace, job_uid)| Post { namespace, job_uid }),
            color: path("NO_COLOR").is_none() && crate::output::is_watched(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: machine::available_memory(),
        })
    }

    /// The instruction set to compute with.
    pub(crate) fn isa(&self) -> Isa {
        self.surroundings.isa()
    }

    /// Where built-in datasets are found.
    pub(crate) fn places(&self) -> data::Places {
        let Surroundings { cache, offline, .. } = &self.surroundings;
        data::Places { cache: cache.clone(), offline: *offline }
    }
}

/// A path that stays right when it is told to another process.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let shown = path.display();
    let path = std::path::absolute(path).with_context(|| format!("`{shown}` is not a path"))?;
    if path.to_str().is_none() {
        bail!("`{shown}` is not Unicode; choose another folder, or rename it");
    }
    Ok(path)
}

fn check_isa(name: &str) -> Result<()> {
    let names: Vec<_> = Isa::available().iter().map(|isa| isa.name()).collect();
    if names.contains(&name) {
        return Ok(());
    }
    bail!("TRAINYARD_ISA={name}: this machine has {}", names.join(", "))
}
