//! One driver per run.
//!
//! The lock is the system's own (`flock`) on `driver.lock`, so it cannot be left behind: it ends with
//! the driver. The processes it started do not hold it: the next driver takes them over. `driver.json`
//! beside it says who the driver is; it is for messages and for `stop`, and never decides who holds
//! the lock.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::{Alive, Result, RunDir, StoreError, publish};

/// Who drives a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The driver's process.
    pub pid: u32,
    /// The machine it runs on.
    pub host: String,
    /// When it started, in milliseconds since 1970.
    pub started_ms: u64,
    /// When it started as the system counts, which tells it from a later process of the same number.
    #[serde(default)]
    pub ticks: Option<u64>,
}

/// The right to drive a run.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Owner {
    /// This process.
    pub fn this_process(started_ms: u64) -> Owner {
        Owner {
            pid: std::process::id(),
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            started_ms,
            ticks: Alive::of(std::process::id()).ticks,
        }
    }

    /// Who drove a run last, whether or not it still does.
    pub fn of(run: &RunDir) -> Option<Owner> {
        serde_json::from_slice(&fs::read(run.driver()).ok()?).ok()
    }

    /// Whether the process lives on the machine `host`. Of another machine it cannot be told.
    pub fn lives_on(&self, host: &str) -> bool {
        self.host == host && Alive { pid: self.pid, ticks: self.ticks }.lives()
    }
}

impl Lock {
    /// Takes the run for `owner`. A driver that lives is not waited for. One that is about to end, or of
    /// which nothing can be told, is, up to `wait`, in small pauses made by `sleep`.
    pub fn acquire(
        run: &RunDir,
        owner: &Owner,
        wait: Duration,
        mut sleep: impl FnMut(Duration),
    ) -> Result<Lock> {
        let fail = |error: io::Error| io_error(error, run);
        let file = open(run).map_err(fail)?;
        let mut waited = Duration::ZERO;
        while !try_lock(&file, FlockOperation::NonBlockingLockExclusive).map_err(fail)? {
            let holder = Owner::of(run);
            match holder {
                Some(owner_now) if owner_now.lives_on(&owner.host) => {
                    return Err(StoreError::Locked { run: run.id(), owner: owner_now });
                }
                _ if waited >= wait => {
                    return Err(StoreError::Held { run: run.id(), owner: holder });
                }
                _ => sleep(PAUSE),
            }
            waited += PAUSE;
        }
        let text = serde_json::to_vec(owner).expect("three plain fields are always JSON");
        publish(&run.driver(), |out| out.write_all(&text))?;
        Ok(Lock { file })
    }

    /// Whether a driver holds the run now.
    pub fn is_held(run: &RunDir) -> Result<bool> {
        let free = match File::open(run.lock()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(error),
            Ok(file) => try_lock(&file, FlockOperation::NonBlockingLockShared),
        };
        free.map(|free| !free).map_err(|error| io_error(error, run))
    }

    /// Gives the run up.
    pub fn release(self) -> Result<()> {
        flock(&self.file, FlockOperation::Unlock).map_err(|errno| StoreError::Io {
            path: "driver.lock".into(),
            place: "the run".into(),
            source: errno.into(),
        })
    }
}

/// The time between two looks at a lock.
const PAUSE: Duration = Duration::from_millis(50);

fn open(run: &RunDir) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(run.lock())
}

fn try_lock(file: &File, how: FlockOperation) -> io::Result<bool> {
    match flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

fn io_error(error: io::Error, run: &RunDir) -> StoreError {
    StoreError::io(error, "driver.lock", &run.path.display().to_string())
}
