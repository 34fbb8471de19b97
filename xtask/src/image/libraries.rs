//! The shared libraries that a binary needs, and those that they need, from this machine.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Context, Result};

use super::elf::Elf;
use super::search::Search;

/// What must lie beside a binary for it to run.
#[derive(Debug, Default)]
pub(super) struct Libraries {
    /// Files by their absolute path.
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

const LIBC: &str = "libc.so.6";

/// What glibc before 2.34 loads by itself, unnamed by any binary, to resolve names; later ones have
/// it all inside. They are taken where they are.
const FOR_NAMES: [&str; 3] = ["libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2"];

/// A library still to be found.
struct Wanted {
    name: String,
    by: String,
}

impl Libraries {
    /// Finds all of them; a static binary needs none.
    pub(super) fn gather(binary: &Elf, search: &Search) -> Result<Libraries> {
        let mut files = BTreeMap::new();
        let Some(loader) = &binary.interpreter else {
            return Ok(Libraries { files });
        };
        let read = search.open(loader);
        files.insert(loader.clone(), read.with_context(|| no_loader(loader))?);
        // The loader of an image looks where it does without being told; where libc is, it does.
        let folder = search.known_folder(LIBC).with_context(|| missing(LIBC, "glibc", search))?;
        let mut open: VecDeque<Wanted> = wanted(&binary.needed, "the binary").collect();
        for name in FOR_NAMES {
            if search.find(name).is_some() {
                open.extend(wanted(&[name.to_string()], "glibc"));
            }
        }
        while let Some(Wanted { name, by }) = open.pop_front() {
            let path = format!("{folder}/{name}");
            // Libraries name the loader too, which is there already.
            if files.contains_key(&path) || loader.ends_with(&format!("/{name}")) {
                continue;
            }
            let file = search.find(&name).with_context(|| missing(&name, &by, search))?;
            open.extend(wanted(&Elf::read(&file)?.needed, &name));
            files.insert(path, file);
        }
        Ok(Libraries { files })
    }
}

fn wanted(names: &[String], by: &str) -> impl Iterator<Item = Wanted> {
    names.iter().map(move |name| Wanted { name: name.clone(), by: by.into() })
}

fn no_loader(path: &str) -> String {
    format!("cannot read {path}, which loads the binary; build the binary on this machine")
}

fn missing(name: &str, by: &str, search: &Search) -> String {
    format!(
        "{name}, which {by} needs, is in none of {}; install it, or build on the machine that has it",
        search.told()
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn this() -> Elf {
        Elf::read(&std::fs::read(std::env::current_exe().unwrap()).unwrap()).unwrap()
    }

    #[test]
    fn this_program_gets_its_loader_and_all_libraries() {
        let elf = this();
        let search = Search::new(Path::new("/"), elf.machine);
        let files = Libraries::gather(&elf, &search).unwrap().files;
        assert!(files.contains_key(elf.interpreter.as_ref().unwrap()));
        let all_found = |needed: &[String]| {
            let found =
                |name: &String| files.keys().any(|path| path.ends_with(&format!("/{name}")));
            needed.iter().all(found)
        };
        assert!(all_found(&elf.needed) && all_found(&[LIBC.to_string()]));
        for (path, file) in &files {
            assert!(all_found(&Elf::read(file).unwrap().needed), "{path} lacks a library");
        }
    }

    #[test]
    fn a_missing_library_is_named_with_who_needs_it_and_where_it_was_looked_for() {
        let mut elf = this();
        elf.needed.push("libnowhere.so.7".into());
        let search = Search::new(Path::new("/"), elf.machine);
        let told = Libraries::gather(&elf, &search).unwrap_err().to_string();
        for part in ["libnowhere.so.7", "the binary needs", elf.machine.triplet()] {
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn a_static_binary_needs_nothing() {
        let elf = Elf { interpreter: None, needed: vec![], ..this() };
        let search = Search::new(Path::new("/nowhere"), elf.machine);
        assert!(Libraries::gather(&elf, &search).unwrap().files.is_empty());
    }
}
