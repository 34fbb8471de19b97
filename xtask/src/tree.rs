//! The files of the project: those that git tracks, and new ones that it does not ignore.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Where the project lies, and its files.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) files: Vec<File>,
}

/// One file, read once for all checks.
pub(crate) struct File {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// Its text; `None` for binary files.
    pub(crate) text: Option<String>,
}

impl Tree {
    /// Reads the project this binary was built from.
    pub(crate) fn open() -> Result<Tree> {
        let root = root();
        let mut paths = list(&root)?;
        paths.sort();
        paths.dedup();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            // A file deleted but not yet committed is still listed.
            let Ok(bytes) = std::fs::read(root.join(&path)) else {
                continue;
            };
            let text = String::from_utf8(bytes).ok();
            files.push(File { path, text });
        }
        Ok(Tree { root, files })
    }

    /// The text of one file, where there is one.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        let file = self.files.iter().find(|file| file.path == path)?;
        file.text.as_deref()
    }

    /// Paths and texts of all files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.iter();
        files.filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }
}

/// The part of a path after its last dot, or nothing.
pub(crate) fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The folder that holds the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

fn list(root: &Path) -> Result<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("cannot run git; tidy asks it which files are the project's")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git ls-files: {}", complaint.trim());
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let names = names.split('\0').filter(|name| !name.is_empty());
    Ok(names.map(str::to_string).collect())
}
