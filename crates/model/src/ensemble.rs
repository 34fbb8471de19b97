//! An ensemble: models of one network that answer together, by vote, as one folder.
//!
//! Each member is a file of its own, `0.safetensors`, `1.safetensors`, … by rank, written by whoever
//! trained it. `ensemble.json` is written last and names them with the hashes of their weights: a
//! folder without it is no ensemble yet, and one with it never changes.
//!
//! The hash of an ensemble is the SHA-256 over the hashes of its members as text, in the order of
//! ranks.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use crate::average::difference;
use crate::manifest::{MAX_MEMBERS, Manifest, Member, file_of, sha256_of_all};
use crate::model::at;
use crate::safetensors::shortened;
use crate::{Error, FileProblem, Model};

/// What the file that makes a folder an ensemble is called.
pub const ENSEMBLE_FILE: &str = "ensemble.json";

/// Models that answer together: at least one, of the same layers, input and labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    members: Vec<Model>,
}

impl Ensemble {
    /// Reads an ensemble from its folder, or from the `ensemble.json` in it. The members are the
    /// files that it names, with the weights that it names.
    pub fn load(path: &Path) -> Result<Ensemble, Error> {
        let path = if path.is_dir() { path.join(ENSEMBLE_FILE) } else { path.to_owned() };
        let manifest = Manifest::read(&path)?.ok_or_else(|| {
            let remedy = "`trainyard aggregate --combine vote` makes an ensemble of models";
            at(&path, FileProblem::Missing(remedy.into()))
        })?;
        let mut members: Vec<Model> = Vec::with_capacity(manifest.members.len());
        for Member { file, weights_sha256 } in &manifest.members {
            let file = path.with_file_name(file);
            let needed = "the ensemble has it as a member: put it back, or make the ensemble again";
            let model = member(&file, needed)?;
            let hash = model.weights_sha256();
            if hash != *weights_sha256 {
                return Err(at(
                    &file,
                    FileProblem::Damaged(format!(
                        "its weights have the hash {hash}, and {ENSEMBLE_FILE} says {}",
                        shortened(weights_sha256)
                    )),
                ));
            }
            if let Some(first) = members.first() {
                let first_file = path.with_file_name(&manifest.members[0].file);
                check_alike((&first_file.display(), first), (&file.display(), &model))?;
            }
            members.push(model);
        }
        Ok(Ensemble { members })
    }

    /// Models that were loaded one by one, each with where it is from, for messages.
    pub fn of(models: Vec<(String, Model)>) -> Result<Ensemble, Error> {
        check_count(models.len())?;
        for (from, model) in &models {
            let (first_from, first) = &models[0];
            check_alike((first_from, first), (from, model))?;
        }
        Ok(Ensemble { members: models.into_iter().map(|(_, model)| model).collect() })
    }

    /// Publishes models in the order of their ranks, each with where it is from, for messages, and
    /// gives the hash of the ensemble. Nothing is written where they are not alike, or where other
    /// models are.
    pub fn publish(folder: &Path, models: &[(&str, &Model)]) -> Result<String, Error> {
        check_count(models.len())?;
        for (from, model) in models {
            let (first_from, first) = models[0];
            check_alike((&first_from, first), (from, model))?;
        }
        for (rank, (_, model)) in models.iter().enumerate() {
            let path = folder.join(file_of(rank));
            if path.exists() && !is_there(&path, model) {
                return Err(at(&path, FileProblem::Taken));
            }
        }
        for (rank, (_, model)) in models.iter().enumerate() {
            Ensemble::save_member(folder, rank, model)?;
        }
        Ensemble::seal(folder, models.len())
    }

    /// Writes the member of a rank into an ensemble's folder and gives the hash of its weights. One
    /// that is there already, from a process that died before it could say so, stays. After
    /// [`seal`](Ensemble::seal) no other weights are taken.
    pub fn save_member(folder: &Path, rank: usize, model: &Model) -> Result<String, Error> {
        let path = folder.join(file_of(rank));
        let hash = model.weights_sha256();
        if is_there(&path, model) {
            return Ok(hash);
        }
        if let Some(sealed) = Manifest::read(&folder.join(ENSEMBLE_FILE))? {
            let named = sealed.members.get(rank);
            if named.is_none_or(|member| member.weights_sha256 != hash) {
                return Err(at(&path, FileProblem::Sealed));
            }
        }
        model.save(&path)?;
        Ok(hash)
    }

    /// The file of a rank's member.
    pub fn member_file(folder: &Path, rank: usize) -> PathBuf {
        folder.join(file_of(rank))
    }

    /// The file that makes an ensemble of its members.
    pub fn manifest_file(folder: &Path) -> PathBuf {
        folder.join(ENSEMBLE_FILE)
    }

    /// Makes an ensemble of the members in a folder, which must all be there: the ranks below
    /// `world`. Gives its hash. Sealing the same again changes nothing.
    pub fn seal(folder: &Path, world: usize) -> Result<String, Error> {
        check_count(world)?;
        let needed = format!("an ensemble of {world} needs it: save every member before sealing");
        let first_file = folder.join(file_of(0));
        let first = member(&first_file, &needed)?;
        let mut hashes = vec![first.weights_sha256()];
        for rank in 1..world {
            let file = folder.join(file_of(rank));
            let model = member(&file, &needed)?;
            check_alike((&first_file.display(), &first), (&file.display(), &model))?;
            hashes.push(model.weights_sha256());
        }
        let manifest = Manifest::of(hashes);
        let path = folder.join(ENSEMBLE_FILE);
        match Manifest::read(&path)? {
            Some(sealed) if sealed.weights_sha256 == manifest.weights_sha256 => {}
            Some(_) => return Err(at(&path, FileProblem::Sealed)),
            None => store::publish(&path, |out| {
                serde_json::to_writer_pretty(&mut *out, &manifest)?;
                out.write_all(b"\n")
            })?,
        }
        Ok(manifest.weights_sha256)
    }

    /// The members, by rank.
    pub fn members(&self) -> &[Model] {
        &self.members
    }

    /// The identity of all weights together.
    pub fn weights_sha256(&self) -> String {
        sha256_of_all(self.members.iter().map(Model::weights_sha256))
    }
}

/// Loads a member. `needed` says why it must be there and what to do.
fn member(file: &Path, needed: &str) -> Result<Model, Error> {
    match file.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(at(file, FileProblem::Missing(needed.into())))
        }
        // Opening a pipe would wait for a writer.
        Ok(about) if !about.is_file() => {
            Err(at(file, FileProblem::NotAModel("it is not a file".into())))
        }
        _ => Model::load(file),
    }
}

/// Whether a file holds a model already: the same weights, with the same meaning.
fn is_there(path: &Path, model: &Model) -> bool {
    Model::load(path).is_ok_and(|there| {
        there.weights_sha256() == model.weights_sha256() && difference(&there, model).is_none()
    })
}

/// Whether two models, each with where it is from, can be members of one ensemble.
fn check_alike(
    (first_from, first): (&dyn Display, &Model),
    (from, other): (&dyn Display, &Model),
) -> Result<(), Error> {
    match difference(first, other) {
        None => Ok(()),
        Some(difference) => Err(Error::Different {
            first: first_from.to_string(),
            from: from.to_string(),
            doing: "vote",
            difference,
        }),
    }
}

fn check_count(world: usize) -> Result<(), Error> {
    match world {
        1..=MAX_MEMBERS => Ok(()),
        _ => Err(Error::Members { world, most: MAX_MEMBERS }),
    }
}
