//! Where the machine's loader looks for libraries: the folders of `/etc/ld.so.conf`, then those it
//! knows by itself.

use std::path::{Path, PathBuf};

use super::elf::{Elf, Machine};

/// Folders to look into, in order.
pub(super) struct Search {
    root: PathBuf,
    machine: Machine,
    folders: Vec<String>,
    /// Those among them that a loader looks into without being told. An image has no `ld.so.conf`.
    known: Vec<String>,
}

/// How often `ld.so.conf` may include files that include files.
const MAX_DEPTH: usize = 4;

impl Search {
    /// The folders below `root`, which is `/` but in tests.
    pub(super) fn new(root: &Path, machine: Machine) -> Search {
        let triplet = machine.triplet();
        let debian = [format!("/lib/{triplet}"), format!("/usr/lib/{triplet}")];
        let others = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(String::from);
        let known: Vec<String> = debian.into_iter().chain(others).collect();
        let mut folders = vec![];
        configured(root, "/etc/ld.so.conf", MAX_DEPTH, &mut folders);
        for folder in &known {
            if !folders.contains(folder) {
                folders.push(folder.clone());
            }
        }
        Search { root: root.into(), machine, folders, known }
    }

    /// A library for our machine, wherever it is first met.
    pub(super) fn find(&self, name: &str) -> Option<Vec<u8>> {
        self.folders.iter().find_map(|folder| self.read(folder, name))
    }

    /// The folder with this library that any loader looks into.
    pub(super) fn known_folder(&self, name: &str) -> Option<&str> {
        let holds = |folder: &&String| self.read(folder, name).is_some();
        self.known.iter().find(holds).map(String::as_str)
    }

    /// A file by its absolute path.
    pub(super) fn open(&self, path: &str) -> std::io::Result<Vec<u8>> {
        std::fs::read(below(&self.root, path))
    }

    /// All folders, for people.
    pub(super) fn told(&self) -> String {
        self.folders.join(", ")
    }

    /// Machines hold libraries of other machines too, and text files that are called like one.
    fn read(&self, folder: &str, name: &str) -> Option<Vec<u8>> {
        let file = self.open(&format!("{folder}/{name}")).ok()?;
        let fits = Elf::read(&file).is_ok_and(|elf| elf.machine == self.machine);
        fits.then_some(file)
    }
}

/// Adds the folders that a file of the loader's names. One that is missing names none.
fn configured(root: &Path, path: &str, depth: usize, folders: &mut Vec<String>) {
    let text = std::fs::read_to_string(below(root, path)).unwrap_or_default();
    for line in text.lines() {
        let words: Vec<&str> = line.split('#').next().unwrap_or("").split_whitespace().collect();
        match words[..] {
            ["include", pattern] if depth > 0 => {
                for file in matching(root, pattern) {
                    configured(root, &file, depth - 1, folders);
                }
            }
            [folder] if folder.starts_with('/') && !folders.iter().any(|known| known == folder) => {
                folders.push(folder.into());
            }
            _ => {}
        }
    }
}

/// The files that a pattern with one star in its last part means, by name.
fn matching(root: &Path, pattern: &str) -> Vec<String> {
    let (folder, last) = pattern.rsplit_once('/').unwrap_or(("", pattern));
    let Some((start, end)) = last.split_once('*') else {
        return vec![pattern.into()];
    };
    let entries = std::fs::read_dir(below(root, folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let long = start.len() + end.len();
    let mut names: Vec<String> = names
        .filter(|name| name.len() >= long && name.starts_with(start) && name.ends_with(end))
        .collect();
    names.sort();
    names.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, path: &str, contents: &[u8]) {
        let path = below(root, path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    fn machine_and_program() -> (Machine, Vec<u8>) {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        (Elf::read(&program).unwrap().machine, program)
    }

    #[test]
    fn folders_come_in_the_loaders_order() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "/etc/ld.so.conf", b"include /etc/ld.so.conf.d/*.conf\n/last # why\n");
        write(root.path(), "/etc/ld.so.conf.d/b.conf", b"/second\n/lib64\n");
        write(root.path(), "/etc/ld.so.conf.d/a.conf", b"# a comment\n/first\n");
        write(root.path(), "/etc/ld.so.conf.d/c.text", b"/never\n");
        let told = Search::new(root.path(), Machine::Amd64).told();
        let known = "/lib/x86_64-linux-gnu, /usr/lib/x86_64-linux-gnu, /usr/lib64, /lib, /usr/lib";
        assert_eq!(told, format!("/first, /second, /lib64, /last, {known}"));
    }

    #[test]
    fn only_libraries_of_the_machine_count() {
        let root = tempfile::tempdir().unwrap();
        let (machine, program) = machine_and_program();
        write(root.path(), "/etc/ld.so.conf", b"/opt/lib\n");
        write(root.path(), "/opt/lib/libone.so", b"GROUP ( libone.so.1 )");
        write(root.path(), "/usr/lib/libone.so", &program);
        let search = Search::new(root.path(), machine);
        assert_eq!(search.find("libone.so"), Some(program));
        assert_eq!(search.known_folder("libone.so"), Some("/usr/lib"));
        assert_eq!(search.find("libtwo.so"), None);
    }
}
