//! What a user wants answered, as the command line names it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serve::{Kind, Limits};

use crate::failure::{Failure, OrUsage};

/// One thing to be answered.
#[derive(Debug, PartialEq)]
pub(super) enum Question {
    /// A file of samples.
    Arrays(PathBuf),
    /// A picture or a text, whichever the model takes.
    File(PathBuf),
    /// A text itself.
    Text(String),
}

/// All that is to be answered, in order; folders as the files in them, and texts last.
pub(super) fn all(
    inputs: &[PathBuf],
    texts: &[String],
    kind: Kind,
) -> Result<Vec<Question>, Failure> {
    let mut all = vec![];
    for path in inputs {
        match path.is_dir() {
            true => all.extend(files(path, kind).or_usage()?.into_iter().map(Question::File)),
            false if data::is_arrays(path).or_usage()? => all.push(Question::Arrays(path.clone())),
            false => all.push(Question::File(path.clone())),
        }
    }
    all.extend(texts.iter().cloned().map(Question::Text));
    Ok(all)
}

/// The pictures of a folder, or its texts where the model takes texts, by name.
fn files(folder: &Path, kind: Kind) -> anyhow::Result<Vec<PathBuf>> {
    let shown = folder.display();
    let wanted = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let fits = match kind {
            Kind::Texts => name.ends_with(".txt"),
            _ => data::is_picture(name),
        };
        fits && !name.starts_with('.') && path.is_file()
    };
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {shown}"))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>();
    let mut paths = paths.with_context(|| format!("cannot read {shown}"))?;
    paths.retain(wanted);
    paths.sort();
    match (paths.is_empty(), kind) {
        (false, _) => Ok(paths),
        (true, Kind::Texts) => bail!("{shown} holds no .txt file; name files, or another folder"),
        (true, _) => bail!("{shown} holds no picture; name files, or another folder"),
    }
}

/// The bytes of a file that is not larger than what a server takes, too.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let (shown, most) = (path.display(), Limits::default().body as u64);
    let mut bytes = vec![];
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    file.take(most + 1).read_to_end(&mut bytes).with_context(|| format!("cannot read {shown}"))?;
    match bytes.len() as u64 <= most {
        true => Ok(bytes),
        false => Err(anyhow!("{shown} has more than {} MiB; make it smaller", most >> 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_files_that_the_model_takes() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["b.png", "a.JPG", ".c.png", "d.txt", "e"] {
            fs::write(path(name), b"x").unwrap();
        }
        fs::create_dir(path("f.png")).unwrap();
        let found = |kind| all(&[folder.path().to_owned()], &["good".to_owned()], kind).unwrap();
        let file = |name| Question::File(path(name));
        let text = || Question::Text("good".to_owned());
        assert_eq!(found(Kind::Pictures), [file("a.JPG"), file("b.png"), text()]);
        assert_eq!(found(Kind::Texts), [file("d.txt"), text()]);
        fs::remove_file(path("d.txt")).unwrap();
        let none = all(&[folder.path().to_owned()], &[], Kind::Texts).unwrap_err();
        assert!(format!("{none:?}").contains("holds no .txt file"), "{none:?}");
    }
}
