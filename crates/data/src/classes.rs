//! A folder for each class, in a folder for each split: `train/cat/1.jpg`, `test/dog/2.jpg`.
//!
//! Where there are no folders for splits, everything is to train on. All this may lie within a
//! single folder, as in most archives. Files beside the folders do not count.

use crate::error::{DataError, Result};
use crate::tree::Tree;

/// Which files a tree has for each split, and what their classes are called.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Classes {
    /// In order, byte by byte.
    pub(crate) names: Vec<String>,
    pub(crate) train: Vec<File>,
    pub(crate) validation: Vec<File>,
    pub(crate) test: Vec<File>,
}

/// A file and its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its number in the tree.
    pub(crate) entry: usize,
    pub(crate) class: u32,
}

/// Names that folders of splits go by.
const SPLITS: [&[&str]; 3] =
    [&["train", "training"], &["validation", "valid", "val"], &["test", "testing"]];

/// A folder that IMDB has beside its classes: reviews that have none.
const UNLABELLED: &str = "unsup";

impl Classes {
    /// Finds the files for which `counts` says yes. Empty where there are none in folders of classes.
    pub(crate) fn find(tree: &Tree, counts: impl Fn(&str) -> bool) -> Classes {
        let paths: Vec<(usize, &str)> = tree
            .entries
            .iter()
            .enumerate()
            .map(|(number, entry)| (number, entry.path.as_str()))
            .filter(|(_, path)| counts(path))
            .collect();
        let top = top(&paths);
        let within: Vec<(usize, &str)> = paths
            .iter()
            .filter_map(|&(number, path)| Some((number, path.strip_prefix(top)?)))
            .collect();
        let in_splits = within.iter().any(|(_, path)| split_of(path) == Some(0));
        let mut found: [Vec<(usize, &str)>; 3] = Default::default();
        for (number, path) in within {
            let (split, rest) = match (in_splits, split_of(path)) {
                (false, _) => (0, path),
                (true, Some(split)) => (split, after_first(path)),
                (true, None) => continue,
            };
            if let Some((class, _)) = rest.split_once('/').filter(|(class, _)| *class != UNLABELLED)
            {
                found[split].push((number, class));
            }
        }
        let mut names: Vec<String> =
            found.iter().flatten().map(|&(_, class)| class.to_owned()).collect();
        names.sort();
        names.dedup();
        let number = |class: &str| {
            names.binary_search_by(|name| name.as_str().cmp(class)).unwrap_or_default() as u32
        };
        let [train, validation, test] = found.map(|files| {
            files.into_iter().map(|(entry, class)| File { entry, class: number(class) }).collect()
        });
        Classes { names, train, validation, test }
    }

    /// How many files there are.
    pub(crate) fn files(&self) -> usize {
        self.train.len() + self.validation.len() + self.test.len()
    }

    /// Keeps the last classes for testing, whole: nothing of them is trained on.
    pub(crate) fn hold_out(&mut self, count: usize, place: &str) -> Result<()> {
        let refuse = |why: String| Err(DataError::Impossible(format!("{place}: {why}")));
        if !self.test.is_empty() {
            return refuse(
                "has a test folder; `data.hold_out_people` is for data that has none".into(),
            );
        }
        if count >= self.names.len() {
            return refuse(format!(
                "`data.hold_out_people` is {count}, but there are {} people, and some must be \
                 trained on",
                self.names.len()
            ));
        }
        let first = (self.names.len() - count) as u32;
        let of = |files: &mut Vec<File>| -> Vec<File> {
            files.extract_if(.., |file| file.class >= first).collect()
        };
        self.test = of(&mut self.train);
        // What was to validate on would be of people who are tested on.
        of(&mut self.validation);
        Ok(())
    }
}

/// The folder that all classes are in: single folders are entered as long as they hold folders.
fn top<'a>(paths: &[(usize, &'a str)]) -> &'a str {
    let mut top = "";
    loop {
        // What lies in folders at this level, and in which.
        let mut folders = paths.iter().filter_map(|&(_, path)| {
            let name = path.strip_prefix(top)?.split_once('/')?.0;
            Some(&path[..top.len() + name.len() + 1])
        });
        let Some(first) = folders.next() else { return top };
        let holds_folders = paths
            .iter()
            .any(|(_, path)| path.strip_prefix(first).is_some_and(|rest| rest.contains('/')));
        if split_of(&first[top.len()..]) == Some(0)
            || !holds_folders
            || folders.any(|other| other != first)
        {
            return top;
        }
        top = first;
    }
}

/// Which split a path is of, by its first folder.
fn split_of(path: &str) -> Option<usize> {
    let (first, _) = path.split_once('/')?;
    SPLITS.iter().position(|names| names.iter().any(|name| first.eq_ignore_ascii_case(name)))
}

fn after_first(path: &str) -> &str {
    path.split_once('/').map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> (tempfile::TempDir, Tree) {
        let dir = tempfile::tempdir().unwrap();
        for path in paths {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let tree = Tree::open(dir.path()).unwrap();
        (dir, tree)
    }

    fn shown(tree: &Tree, files: &[File]) -> Vec<String> {
        let name = |file: &File| format!("{} {}", tree.entries[file.entry].path, file.class);
        files.iter().map(name).collect()
    }

    #[test]
    fn splits_and_classes_are_found_within_a_single_folder() {
        let (_dir, tree) = found(&[
            "acl/train/pos/2.txt",
            "acl/train/neg/1.txt",
            "acl/train/unsup/0.txt",
            "acl/test/pos/deep/1.txt",
            "acl/Val/neg/9.txt",
            "acl/readme.txt",
            "index.json",
            "acl/train/urls.txt",
            "acl/other/pos/1.txt",
        ]);
        let classes = Classes::find(&tree, |path| path.ends_with(".txt"));
        // A file beside the only folder does not hide it, as long as it does not count.
        assert_eq!(classes.names, ["neg", "pos"]);
        assert_eq!(
            shown(&tree, &classes.train),
            ["acl/train/neg/1.txt 0", "acl/train/pos/2.txt 1"]
        );
        assert_eq!(shown(&tree, &classes.test), ["acl/test/pos/deep/1.txt 1"]);
        assert_eq!(shown(&tree, &classes.validation), ["acl/Val/neg/9.txt 0"]);
    }

    #[test]
    fn without_splits_everything_is_to_train_on() {
        let (_dir, tree) = found(&["faces/s2/1.pgm", "faces/s10/1.pgm", "faces/s1/1.pgm"]);
        let mut classes = Classes::find(&tree, |_| true);
        assert_eq!(classes.names, ["s1", "s10", "s2"]);
        assert_eq!(classes.train.len(), 3);
        classes.hold_out(1, "faces").unwrap();
        assert_eq!(shown(&tree, &classes.test), ["faces/s2/1.pgm 2"]);
        assert!(classes.hold_out(1, "faces").is_err());
        let mut classes = Classes::find(&tree, |_| true);
        assert!(classes.hold_out(3, "faces").is_err());
    }

    #[test]
    fn no_folders_no_classes() {
        let (_dir, tree) = found(&["a.txt", "b.txt"]);
        assert_eq!(Classes::find(&tree, |_| true).files(), 0);
    }
}
