//! Pictures to click for people who have none at hand.
//!
//! Whoever serves a model says which: those of a folder that is named for it, or those of the gallery, which is shown
//! anyway. Nothing that a model learned from is offered by itself: it may be nobody's to show.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::served::Served;

/// As many are offered: two rows of small pictures.
const MOST: usize = 12;

/// Bytes of a picture, at most; larger ones are left out.
const MOST_BYTES: u64 = 16 << 20;

/// A picture that is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub name: String,
}

/// Pictures of a folder.
pub struct Examples {
    files: Vec<PathBuf>,
}

impl Examples {
    /// The pictures of a folder, by name, and those of the folders in it, one of each in turn. `is_picture` tells by the
    /// name; what the model cannot use is left out.
    pub fn open(
        folder: &Path,
        served: &Served,
        is_picture: impl Fn(&Path) -> bool,
    ) -> io::Result<Examples> {
        let mut groups = vec![];
        let paths = sorted(folder)?;
        for inner in paths.iter().filter(|path| path.is_dir()) {
            groups.push(sorted(inner)?);
        }
        groups.insert(0, paths);
        for group in &mut groups {
            group.retain(|path| is_picture(path));
        }
        let longest = groups.iter().map(Vec::len).max().unwrap_or(0);
        let in_turn =
            (0..longest).flat_map(|place| groups.iter().filter_map(move |all| all.get(place)));
        // A folder may hold more pictures than anybody wants to wait for.
        let files: Vec<PathBuf> =
            in_turn.filter(|path| is_usable(path, served)).take(MOST).cloned().collect();
        let problem = "it holds no picture that the model can use";
        match files.is_empty() {
            false => Ok(Examples { files }),
            true => Err(io::Error::new(io::ErrorKind::InvalidInput, problem)),
        }
    }

    /// What is told of them.
    pub(crate) fn list(&self) -> Vec<Example> {
        let example = |(number, file): (usize, &PathBuf)| Example {
            url: format!("/examples/{number}"),
            name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        };
        self.files.iter().enumerate().map(example).collect()
    }

    /// The file of one of them.
    pub(crate) fn file(&self, number: usize) -> Option<&Path> {
        self.files.get(number).map(PathBuf::as_path)
    }
}

/// As many as are offered of `all`, evenly from the first to the last.
pub(crate) fn spread<T>(all: Vec<T>) -> Vec<T> {
    let (count, most) = (all.len(), all.len().min(MOST));
    let wanted = |place: &usize| (0..most).any(|number| number * count / most == *place);
    all.into_iter().enumerate().filter(|(place, _)| wanted(place)).map(|(_, one)| one).collect()
}

fn is_usable(path: &Path, served: &Served) -> bool {
    let small = |about: fs::Metadata| about.is_file() && about.len() <= MOST_BYTES;
    path.metadata().is_ok_and(small)
        && fs::read(path).is_ok_and(|bytes| served.reader.picture(&bytes).is_ok())
}

/// What lies in a folder, by name. What begins with a dot is somebody's bookkeeping.
pub(crate) fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    let is_hidden = |path: &PathBuf| {
        path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_chosen_evenly() {
        assert_eq!(spread((0..3).collect()), [0, 1, 2]);
        assert_eq!(spread((0..24).collect::<Vec<_>>()), (0..24).step_by(2).collect::<Vec<_>>());
        assert_eq!(spread((0..1000).collect::<Vec<_>>()).len(), MOST);
        assert!(spread(Vec::<u8>::new()).is_empty());
    }
}
