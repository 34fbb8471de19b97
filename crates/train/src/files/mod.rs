//! The run's folder as a process of it sees it: the folder itself where it is on this machine, otherwise
//! a folder of its own, into which the driver sends what is read and from which it takes what is made.

mod ask;
mod copy;
mod depot;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use store::{RunDir, Store};

use crate::orders::Orders;
use crate::{Error, Join, Station};
pub(crate) use depot::Caller;
use depot::Depot;

pub use ask::{Answer, Ask, CHUNK, Failure, FailureKind, MAX_PUT, hear, say};
pub(crate) use copy::keep as keep_copy;
pub use copy::{EVENTS, FILES, FOLDERS};

/// Where a process finds its run's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunFolder {
    /// On this machine.
    Here,
    /// On this machine, or else with the driver: copies go into a folder of its own.
    HereOr(PathBuf),
    /// With the driver; copies go into a folder of its own.
    Elsewhere(PathBuf),
}

impl RunFolder {
    /// The folder of its own that a process has.
    pub(crate) fn scratch(&self) -> Option<&Path> {
        match self {
            RunFolder::Here => None,
            RunFolder::HereOr(scratch) | RunFolder::Elsewhere(scratch) => Some(scratch),
        }
    }
}

/// The run's folder.
pub(crate) struct Files {
    /// Where it is, or where the copies are.
    pub(crate) run: RunDir,
    depot: Option<Depot>,
}

impl Files {
    /// Finds the folder: here, if what lies there is the run that this process has joined.
    pub(crate) fn open(
        orders: &Orders,
        station: &Station,
        access: &collective::Access,
    ) -> Result<Files, Error> {
        let there = RunDir::at(&orders.run);
        let secret_there = || Join::read(&there.join()).ok().map(|join| join.secret);
        let scratch = match &station.folder {
            RunFolder::Here => None,
            RunFolder::HereOr(_) if secret_there() == Some((station.join)()?.secret) => None,
            RunFolder::HereOr(scratch) | RunFolder::Elsewhere(scratch) => Some(scratch),
        };
        let Some(scratch) = scratch else {
            return Ok(Files { run: there, depot: None });
        };
        let run = RunDir::at(&scratch.join(there.id()));
        std::fs::create_dir_all(&run.path).map_err(|error| Error::io(&run.path, error))?;
        let depot = Depot::open(Caller {
            net: station.net.clone(),
            access: access.clone(),
            join: station.join.clone(),
            patience: station.patience,
        });
        let depot =
            depot.map_err(|error| Error::Orders(format!("cannot start a thread: {error}")))?;
        (station.log)("the run's folder is not on this machine; its files come from the driver");
        Ok(Files { run, depot: Some(depot) })
    }

    /// Sees to it that a file can be read. Those that are there do not change.
    pub(crate) fn bring(&self, path: &Path) -> Result<(), Error> {
        let Some(depot) = self.depot.as_ref().filter(|_| !path.exists()) else { return Ok(()) };
        let name = self.name(path);
        let from = Store::remote("the run's folder", Arc::new(depot.clone()));
        let mut bytes = from.reader(&name, 0)?;
        Ok(store::publish(path, |to| io::copy(&mut bytes, to).map(drop))?)
    }

    /// Hands a file in that was made here.
    pub(crate) fn hand_in(&self, path: &Path) -> Result<(), Error> {
        let Some(depot) = &self.depot else { return Ok(()) };
        let bytes = std::fs::read(path).map_err(|error| Error::io(path, error))?;
        let to = Store::remote("the run's folder", Arc::new(depot.clone()));
        Ok(to.put(&self.name(path), bytes)?)
    }

    /// A folder of the run as a store.
    pub(crate) fn store(&self, folder: &Path) -> Result<Store, Error> {
        match &self.depot {
            None => Ok(Store::local(folder)?),
            Some(depot) => {
                let name = self.name(folder);
                let place = format!("{name} of the run's folder");
                Ok(Store::remote(&place, Arc::new(depot.within(&name))))
            }
        }
    }

    /// A file of the user's that a task reads, where it can be read.
    pub(crate) fn input(&self, task: &str, path: &str) -> Result<PathBuf, Error> {
        if self.depot.is_none() {
            return Ok(path.into());
        }
        let file = Path::new(path).file_name().unwrap_or_default();
        let path = self.run.path.join("inputs").join(task).join(file);
        self.bring(&path)?;
        Ok(path)
    }

    /// What a path of ours is called in the run's folder.
    fn name(&self, path: &Path) -> String {
        let within = path.strip_prefix(&self.run.path).unwrap_or(path);
        within.to_string_lossy().into_owned()
    }
}
