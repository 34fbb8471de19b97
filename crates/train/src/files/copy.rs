//! A copy of the run's folder with one of its processes, where the driver's own may be lost with its
//! machine. The next driver finds its folder empty; it gets the copy, and goes on from there.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use store::{Store, StoreError};

use super::depot::{Caller, Depot};
use crate::Error;

/// What is copied beside the events.
pub const FOLDERS: [&str; 4] = ["data", "checkpoints", "models", "inputs"];
/// What is copied once.
pub const FILES: [&str; 2] = ["spec.yaml", "plan.json"];
/// What comes last, on either side: a folder without it is not whole.
pub const EVENTS: &str = "events.jsonl";
/// Between two looks at what is new. What happened since the last one is lost with the driver.
const LOOK: Duration = Duration::from_millis(500);
/// No file of a run's folder is larger: processes hand them in whole.
const MAX_FILE: u64 = super::MAX_PUT;

/// A copy, and what it is of.
struct Copy {
    theirs: Store,
    ours: Store,
    folder: PathBuf,
    log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Keeps a copy in a folder from now on, on a thread of its own.
pub(crate) fn keep(
    caller: Caller,
    folder: PathBuf,
    log: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<(), Error> {
    let cannot = |error| Error::Orders(format!("cannot start a thread: {error}"));
    let depot = Depot::open(caller).map_err(cannot)?;
    let theirs = Store::remote("the run's folder", Arc::new(depot));
    let copy = Copy { theirs, ours: Store::local(&folder)?, folder, log };
    let look = move || {
        let mut said = None;
        loop {
            let problem = copy.look().err().map(|error| error.to_string());
            if let Some(problem) = problem.as_ref().filter(|_| said != problem) {
                (copy.log)(&format!("cannot copy the run's folder: {problem}"));
            }
            said = problem;
            std::thread::sleep(LOOK);
        }
    };
    std::thread::Builder::new().name("copy".into()).spawn(look).map_err(cannot)?;
    Ok(())
}

impl Copy {
    fn look(&self) -> Result<(), Error> {
        match self.theirs.size(EVENTS) {
            Ok(size) => self.follow(size),
            Err(StoreError::NotFound { .. }) => self.bring_back(),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies what is new. Events come last: they tell of nothing that is not here.
    fn follow(&self, events: u64) -> Result<(), Error> {
        for file in FILES {
            if !self.ours.exists(file)? {
                self.copy(file)?;
            }
        }
        for folder in FOLDERS {
            let (theirs, ours) = (self.theirs.list(folder)?, self.ours.list(folder)?);
            for gone in ours.iter().filter(|own| !theirs.iter().any(|it| it.path == own.path)) {
                self.ours.delete(&gone.path)?;
            }
            let mut fresh: Vec<_> = theirs.iter().filter(|entry| !ours.contains(entry)).collect();
            fresh.sort_by_key(|entry| is_manifest(&entry.path));
            fresh.iter().try_for_each(|entry| self.copy(&entry.path))?;
        }
        let path = self.folder.join(EVENTS);
        let have = std::fs::metadata(&path).map_or(0, |found| found.len());
        if events > have {
            let mut news = self.theirs.reader(EVENTS, have)?;
            append(&path, &mut news).map_err(|error| Error::io(&path, error))?;
        }
        Ok(())
    }

    /// Copies a file, if it is still there.
    fn copy(&self, path: &str) -> Result<(), Error> {
        match self.theirs.reader(path, 0) {
            Ok(mut bytes) => {
                let to = self.folder.join(path);
                Ok(store::publish(&to, |to| io::copy(&mut bytes, to).map(drop))?)
            }
            Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the copy to a driver that has nothing, if it is whole.
    fn bring_back(&self) -> Result<(), Error> {
        if !self.ours.exists(EVENTS)? {
            return Ok(());
        }
        let mut files: Vec<String> = FILES.map(str::to_owned).into();
        for folder in FOLDERS {
            files.extend(self.ours.list(folder)?.into_iter().map(|entry| entry.path));
        }
        files.sort_by_key(|path| is_manifest(path));
        for path in &files {
            self.theirs.put(path, self.ours.get(path, MAX_FILE)?)?;
        }
        match self.theirs.put_new(EVENTS, self.ours.get(EVENTS, MAX_FILE)?) {
            // Another process had a copy too.
            Err(StoreError::AlreadyExists { .. }) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(()) => {
                (self.log)("the driver had lost the run's folder, and has it back from here");
                Ok(())
            }
        }
    }
}

/// Whether a file says that others are there.
fn is_manifest(path: &str) -> bool {
    path.ends_with("manifest.json")
}

fn append(path: &Path, news: &mut impl io::Read) -> io::Result<()> {
    let mut file: File = OpenOptions::new().append(true).create(true).open(path)?;
    io::copy(news, &mut file).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A copy between two folders of this machine.
    fn between(theirs: &Path, ours: &Path) -> Copy {
        let [from, to] = [theirs, ours].map(|folder| Store::local(folder).unwrap());
        Copy { theirs: from, ours: to, folder: ours.into(), log: Arc::new(|_| {}) }
    }

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn contents(folder: &Path) -> Vec<(String, String)> {
        let entries = Store::local(folder).unwrap().list("").unwrap();
        let read = |path: &str| std::fs::read_to_string(folder.join(path)).unwrap();
        entries.into_iter().map(|entry| (entry.path.clone(), read(&entry.path))).collect()
    }

    #[test]
    fn a_driver_that_lost_its_folder_gets_back_what_it_had() {
        let [first, copy, second] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let files = [("spec.yaml", "s"), ("plan.json", "p"), ("data/a/1.npz", "x")];
        files.iter().for_each(|(path, text)| write(first.path(), path, text));
        write(first.path(), "checkpoints/train/5/manifest.json", "five");
        write(first.path(), EVENTS, "one\n");
        let keeping = between(first.path(), copy.path());
        keeping.look().unwrap();
        assert_eq!(contents(copy.path()), contents(first.path()));

        // What is removed goes, what is added comes, and events grow.
        std::fs::remove_file(first.path().join("checkpoints/train/5/manifest.json")).unwrap();
        write(first.path(), "checkpoints/train/9/manifest.json", "nine");
        write(first.path(), EVENTS, "one\ntwo\n");
        keeping.look().unwrap();
        assert_eq!(contents(copy.path()), contents(first.path()));

        let returning = between(second.path(), copy.path());
        returning.look().unwrap();
        assert_eq!(contents(second.path()), contents(first.path()));
    }

    #[test]
    fn a_copy_that_is_not_whole_is_not_given() {
        let [theirs, copy] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        write(copy.path(), "data/a/1.npz", "x");
        between(theirs.path(), copy.path()).look().unwrap();
        assert_eq!(contents(theirs.path()), []);
    }

    #[test]
    fn keys_and_logs_stay_where_they_are() {
        let [theirs, copy] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        for path in ["join.json", "driver.key", "logs/train.0.log", EVENTS] {
            write(theirs.path(), path, "x");
        }
        between(theirs.path(), copy.path()).look().unwrap();
        assert_eq!(contents(copy.path()), [(EVENTS.into(), "x".into())]);
    }
}
