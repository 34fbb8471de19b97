//! The environment, read here and nowhere else.
//!
//! | variable | meaning |
//! |---|---|
//! | `TRAINYARD_RUNS` | where runs go, unless `--out` says; `./runs` by default |
//! | `TRAINYARD_CACHE` | where downloads are kept; `trainyard` in the user's cache folder by default |
//! | `TRAINYARD_OFFLINE` | set to anything: fetch nothing |
//! | `TRAINYARD_ISA` | compute with `avx512`, `avx2` or `portable` instead of the best there is |
//! | `NO_COLOR` | set to anything: no colours |
#![expect(
    clippy::disallowed_methods,
    reason = "this is the place that reads the environment"
)]

use std::env::{var, var_os};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use engine::Isa;
use train::Surroundings;

/// What the environment and the machine say.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    /// Where runs go.
    pub(crate) runs: PathBuf,
    /// What tasks may use.
    pub(crate) surroundings: Surroundings,
    /// Whether colours are welcome.
    pub(crate) color: bool,
    /// How many threads can compute at once.
    pub(crate) threads: usize,
    /// How many bytes of memory can be had.
    pub(crate) memory: u64,
}

impl Env {
    pub(crate) fn read() -> Result<Self> {
        let path = |name| {
            var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache = path("TRAINYARD_CACHE")
            .or_else(|| path("XDG_CACHE_HOME").map(|cache| cache.join("trainyard")))
            .or_else(|| path("HOME").map(|home| home.join(".cache/trainyard")))
            .unwrap_or_else(|| std::env::temp_dir().join("trainyard-cache"));
        let isa = var("TRAINYARD_ISA").ok().filter(|name| !name.is_empty());
        isa.as_deref().map(check_isa).transpose()?;
        let offline = path("TRAINYARD_OFFLINE").is_some();
        Ok(Env {
            runs: path("TRAINYARD_RUNS").unwrap_or_else(|| PathBuf::from("runs")),
            surroundings: Surroundings {
                isa,
                cache: absolute(&cache)?,
                offline,
            },
            color: path("NO_COLOR").is_none() && crate::output::is_watched(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: available_memory(),
        })
    }

    /// The instruction set to compute with.
    pub(crate) fn isa(&self) -> Isa {
        self.surroundings.isa()
    }

    /// Where built-in datasets are found.
    pub(crate) fn places(&self) -> data::Places {
        let Surroundings { cache, offline, .. } = &self.surroundings;
        data::Places {
            cache: cache.clone(),
            offline: *offline,
        }
    }
}

/// A path that stays right when it is told to another process.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is not a path", path.display()))
}

fn check_isa(name: &str) -> Result<()> {
    let names: Vec<_> = Isa::available().iter().map(|isa| isa.name()).collect();
    if names.contains(&name) {
        return Ok(());
    }
    bail!(
        "TRAINYARD_ISA={name}: this machine has {}",
        names.join(", ")
    )
}

/// What the system says is free, or what the container we are in leaves, whichever is less.
fn available_memory() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let free = read("/proc/meminfo").and_then(|text| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(
            line.trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<u64>()
                .ok()?
                * 1024,
        )
    });
    let contained = number("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    free.unwrap_or(u64::MAX).min(contained.unwrap_or(u64::MAX))
}
