//! Checkpoints: everything a worker needs to go on, there whole or not at all.
//!
//! A checkpoint is a folder `<step>/` with one file of numbers under a name nobody else uses, and
//! then, written last and only if nobody wrote it before, `manifest.json`, which names that file
//! and its hash. Without a manifest there is no checkpoint. Reading starts at the newest and falls
//! back to the one before when hashes do not agree. Three are kept.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Entry, Store, StoreError};

use crate::Error;
use crate::early_stop::Watch;
use crate::event::Epoch;
use crate::tally::Tally;

/// The version of the format that this program writes.
const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
const MAX_STATE_BYTES: u64 = 1 << 36;

/// Where training stands, arrays aside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Steps done.
    pub step: u64,
    /// At which step the last epoch's result was taken.
    #[serde(default)]
    pub epoch_step: u64,
    /// How many batches of each rank have been pushed, where servers take each as it comes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<u64>,
    /// How long training has taken, all processes together.
    pub seconds: f64,
    /// What the epoch under way has come to.
    pub tally: Tally,
    /// The result of the epoch whose weights would be published now.
    pub result: Option<Epoch>,
    /// The results of the last epochs: whoever goes on tells those that were not heard.
    #[serde(default)]
    pub epochs: VecDeque<Epoch>,
    /// What early stopping remembers.
    pub watch: Watch,
    /// Whether training has ended, early or not.
    pub ended: bool,
}

/// Everything a worker needs to go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Where training stands.
    pub position: Position,
    /// The flat arenas by name: `weights`, `slot.0`, …
    pub arrays: Vec<(String, Vec<f32>)>,
}

/// What looking for a checkpoint found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The newest that is whole.
    pub newest: Option<Snapshot>,
    /// Those that would be newer but are damaged: their steps, and what is wrong with them.
    pub damaged: Vec<(u64, String)>,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    version: u32,
    file: String,
    sha256: String,
    arrays: Vec<(String, usize)>,
    position: Position,
}

/// The checkpoints of one task.
#[derive(Clone)]
pub struct Checkpoints {
    store: Store,
    /// No other process writes files of this name.
    writer: String,
    keep: usize,
}

impl Checkpoints {
    /// Checkpoints in a store of their own. `writer` tells this process from all others.
    pub fn new(store: Store, writer: String, keep: usize) -> Self {
        Checkpoints { store, writer, keep: keep.max(1) }
    }

    /// Writes a checkpoint, then deletes all but the newest few.
    pub fn save(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let bytes: Vec<u8> = snapshot
            .arrays
            .iter()
            .flat_map(|(_, array)| array.iter().flat_map(|value| value.to_le_bytes()))
            .collect();
        let step = snapshot.position.step;
        let manifest = Manifest {
            version: VERSION,
            file: format!("{}.f32", self.writer),
            sha256: store::hex(&Sha256::digest(&bytes)),
            arrays: snapshot.arrays.iter().map(|(name, a)| (name.clone(), a.len())).collect(),
            position: snapshot.position.clone(),
        };
        self.store.put(&format!("{step}/{}", manifest.file), bytes)?;
        let text = serde_json::to_vec_pretty(&manifest).expect("a manifest is plain data");
        match self.store.put_new(&format!("{step}/{MANIFEST}"), text.clone()) {
            // Somebody got there first, with the same bits if it can be read: every process
            // computes the same step. If it cannot, ours takes its place.
            Err(StoreError::AlreadyExists { .. }) if self.load(step).is_err() => {
                self.store.put(&format!("{step}/{MANIFEST}"), text)?;
            }
            Err(StoreError::AlreadyExists { .. }) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        self.forget_old(step)
    }

    /// Looks for the newest checkpoint that is whole.
    pub fn newest(&self) -> Result<Found, Error> {
        let mut damaged = vec![];
        for step in self.steps()?.into_iter().rev() {
            match self.load(step) {
                Ok(snapshot) => {
                    return Ok(Found { newest: Some(snapshot), damaged });
                }
                // Never finished, so never a checkpoint.
                Err(Error::Store(StoreError::NotFound { .. })) => {}
                Err(Error::Corrupt { problem, .. }) => damaged.push((step, problem)),
                Err(error) => return Err(error),
            }
        }
        Ok(Found { newest: None, damaged })
    }

    fn load(&self, step: u64) -> Result<Snapshot, Error> {
        let wrong =
            |problem: String| Error::Corrupt { path: format!("checkpoint {step}").into(), problem };
        let text = self.store.get(&format!("{step}/{MANIFEST}"), MAX_MANIFEST_BYTES)?;
        let manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if manifest.version != VERSION {
            return Err(wrong(format!("format {} is not {VERSION}", manifest.version)));
        }
        let bytes = self.store.get(&format!("{step}/{}", manifest.file), MAX_STATE_BYTES)?;
        if store::hex(&Sha256::digest(&bytes)) != manifest.sha256 {
            return Err(wrong("its numbers do not have the hash in its manifest".into()));
        }
        let mut values =
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let arrays = manifest.arrays.into_iter().map(|(name, len)| {
            let array: Vec<f32> = values.by_ref().take(len).collect();
            if array.len() == len { Ok((name, array)) } else { Err(wrong("it is cut off".into())) }
        });
        Ok(Snapshot { arrays: arrays.collect::<Result<_, _>>()?, position: manifest.position })
    }

    /// Every step there is a folder for, in order.
    fn steps(&self) -> Result<Vec<u64>, Error> {
        let step_of = |entry: &Entry| entry.path.split('/').next()?.parse().ok();
        let mut steps: Vec<u64> = self.store.list("")?.iter().filter_map(step_of).collect();
        steps.sort_unstable();
        steps.dedup();
        Ok(steps)
    }

    /// Keeps the newest few. One newer than what was just saved is by a process that got further while
    /// this one was cut off, and its numbers are the same that this one would have come to: it
    /// stays, unless it is damaged.
    fn forget_old(&self, saved: u64) -> Result<(), Error> {
        let is_whole = |step: u64| self.store.exists(&format!("{step}/{MANIFEST}"));
        let mut kept = 0;
        for step in self.steps()?.into_iter().rev() {
            if step > saved && self.is_sound_or_unfinished(step, &mut kept)? {
                continue;
            }
            if step <= saved && kept < self.keep && is_whole(step)? {
                kept += 1;
                continue;
            }
            // The manifest goes first: what is half deleted is not a checkpoint.
            self.remove(&format!("{step}/{MANIFEST}"))?;
            for entry in self.store.list(&step.to_string())? {
                self.remove(&entry.path)?;
            }
        }
        Ok(())
    }

    /// Another process may remove the same at the same time.
    fn remove(&self, path: &str) -> Result<(), Error> {
        match self.store.delete(path) {
            Ok(()) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a checkpoint can be used, and counts, or may be being written now.
    fn is_sound_or_unfinished(&self, step: u64, kept: &mut usize) -> Result<bool, Error> {
        match self.load(step) {
            Ok(_) => {
                *kept += 1;
                Ok(true)
            }
            Err(Error::Store(StoreError::NotFound { .. })) => Ok(true),
            Err(Error::Corrupt { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(step: u64) -> Snapshot {
        let tally = Tally { loss: 0.1 + 0.2, ..Tally::default() };
        let position = Position { step, tally, ..Position::default() };
        let arrays = vec![("weights".into(), vec![step as f32, -0.0]), ("slot.0".into(), vec![])];
        Snapshot { position, arrays }
    }

    fn checkpoints(folder: &tempfile::TempDir) -> Checkpoints {
        Checkpoints::new(Store::local(folder.path()).unwrap(), "w0".into(), 3)
    }

    #[test]
    fn the_newest_of_three_comes_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = checkpoints(&folder);
        assert_eq!(checkpoints.newest().unwrap().newest, None);
        for step in [5, 10, 15, 100] {
            checkpoints.save(&snapshot(step)).unwrap();
        }
        assert_eq!(checkpoints.newest().unwrap().newest, Some(snapshot(100)));
        assert_eq!(checkpoints.steps().unwrap(), [10, 15, 100]);
    }

    #[test]
    fn a_damaged_one_is_told_of_and_falls_back_to_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = checkpoints(&folder);
        for step in [5, 10, 15] {
            checkpoints.save(&snapshot(step)).unwrap();
        }
        std::fs::write(folder.path().join("15/w0.f32"), [1, 2, 3]).unwrap();
        std::fs::remove_file(folder.path().join("10/manifest.json")).unwrap();
        let Found { newest, damaged } = checkpoints.newest().unwrap();
        assert_eq!(newest, Some(snapshot(5)));
        assert_eq!(damaged.len(), 1);
        assert!(damaged[0].0 == 15 && damaged[0].1.contains("hash"), "{damaged:?}");

        // Training goes on from 5: its checkpoints must not lose to the damaged one of 15.
        checkpoints.save(&snapshot(7)).unwrap();
        let whole = Found { newest: Some(snapshot(7)), damaged: vec![] };
        assert_eq!(checkpoints.newest().unwrap(), whole);
        checkpoints.save(&snapshot(15)).unwrap();
        let whole = Found { newest: Some(snapshot(15)), damaged: vec![] };
        assert_eq!(checkpoints.newest().unwrap(), whole);
        assert_eq!(checkpoints.steps().unwrap(), [5, 7, 15]);
    }

    #[test]
    fn one_that_was_cut_off_takes_nothing_away_from_those_that_went_on() {
        let folder = tempfile::tempdir().unwrap();
        let others = checkpoints(&folder);
        for step in [20, 30, 40] {
            others.save(&snapshot(step)).unwrap();
        }
        // Being written now, by the others.
        std::fs::create_dir(folder.path().join("50")).unwrap();
        std::fs::write(folder.path().join("50/w0.f32"), [1, 2, 3]).unwrap();
        let store = Store::local(folder.path()).unwrap();
        let cut_off = Checkpoints::new(store, "w1".into(), 3);
        cut_off.save(&snapshot(10)).unwrap();
        assert_eq!(cut_off.steps().unwrap(), [20, 30, 40, 50]);
        assert_eq!(others.newest().unwrap().newest, Some(snapshot(40)));
        cut_off.save(&snapshot(35)).unwrap();
        assert_eq!(cut_off.steps().unwrap(), [30, 35, 40, 50]);
    }
}
