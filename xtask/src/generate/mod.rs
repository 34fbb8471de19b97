//! Writes the files that follow from the code: they are committed, so that people and editors can
//! read them, and checked, so that they are never out of date.

mod cli;
mod difference;
mod runfile;

use std::path::Path;

use anyhow::{Context, Result};

use crate::output::say;
use crate::tree;

/// Whether to change files or only to look.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// A generated file.
struct Page {
    /// Relative to the root of the project.
    path: &'static str,
    text: String,
}

/// Writes or checks every generated file, and says whether all are as they should be.
pub(crate) fn generate(mode: Mode) -> Result<bool> {
    let root = tree::root();
    let pages = [runfile::schema()?, runfile::reference(), cli::help()?];
    let mut all_well = true;
    for page in pages {
        let file = root.join(page.path);
        let old = std::fs::read_to_string(&file).unwrap_or_default();
        if old == page.text {
            continue;
        }
        match mode {
            Mode::Write => write(&file, &page)?,
            Mode::Check => {
                all_well = false;
                say(&format!("{} is out of date; run `cargo xtask generate`", page.path));
                say(&difference::difference(&old, &page.text));
            }
        }
    }
    if all_well && mode == Mode::Check {
        say("generate: all files are up to date");
    }
    Ok(all_well)
}

fn write(file: &Path, page: &Page) -> Result<()> {
    let folder = file.parent().context("a generated file lies in a folder")?;
    std::fs::create_dir_all(folder)?;
    std::fs::write(file, &page.text).with_context(|| format!("cannot write {}", page.path))?;
    say(&format!("wrote {}", page.path));
    Ok(())
}
