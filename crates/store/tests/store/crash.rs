//! A full disk or a killed process loses nothing that was published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use store::{Store, StoreError, publish};
use tempfile::tempdir;

/// What the writer below publishes: the size follows from the value, so half a file is found out.
fn content(value: u8) -> Vec<u8> {
    vec![value; 100_000 + 1000 * usize::from(value)]
}

/// Runs one of this program's ignored tests as a process of its own, in a folder.
pub(crate) fn start(test: &str, folder: &Path) -> Child {
    let program = std::env::current_exe().expect("a running test has a program");
    Command::new(program)
        .args(["--ignored", "--exact", test])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test program starts again")
}

/// Waits for another process to write a file. The bound only matters when the test fails.
pub(crate) fn wait_for(path: &Path) {
    for _ in 0..3000 {
        if path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} never appeared", path.display());
}

#[test]
#[ignore = "started by the test below as a process to be killed"]
fn publishes_for_ever() {
    let store = Store::local(".").unwrap();
    for value in (0..=255).cycle() {
        store.put("name", content(value)).unwrap();
        publish(Path::new("file"), |out| out.write_all(&content(value))).unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_only_whole_things() {
    let folder = tempdir().unwrap();
    for round in 0..20u64 {
        let mut writer = start("crash::publishes_for_ever", folder.path());
        wait_for(&folder.path().join("file"));
        // Any moment will do; these are many different ones.
        std::thread::sleep(Duration::from_micros(1_700 * round));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let store = Store::local(folder.path()).unwrap();
        for path in ["name", "file"] {
            let bytes = store.get(path, 1 << 20).unwrap();
            assert!(bytes == content(bytes[0]), "{path} is torn in round {round}");
        }
        let entries = store.list("").unwrap();
        assert_eq!(entries.len(), 2, "torn files are listed: {entries:?}");
        store.put_new(&format!("round-{round}"), vec![1]).unwrap();
        store.delete(&format!("round-{round}")).unwrap();
    }
}

/// A file system of 256 KiB, unmounted at the end.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(folder: &Path) -> Option<SmallDisk> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(folder)
            .output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        mounted.then(|| SmallDisk(folder.to_path_buf()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_keeps_what_was_published() {
    let folder = tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path()) else {
        eprintln!("skipped: this test needs the right to mount a small file system");
        return;
    };
    let store = Store::local(&disk.0).unwrap();
    let kept = vec![7; 150_000];
    store.put("model", kept.clone()).unwrap();
    let full = |result: store::Result<()>| match result {
        Err(StoreError::Full { .. }) => {}
        other => panic!("not full but {other:?}"),
    };
    full(store.put("model", vec![8; 150_000]));
    full(store.put("other", vec![8; 150_000]));
    full(store.put_new("new", vec![8; 150_000]));
    full(publish(&disk.0.join("model"), |out| out.write_all(&[8; 150_000])));
    full(publish(&disk.0.join("file"), |out| out.write_all(&[8; 150_000])));
    assert_eq!(store.get("model", 1 << 20).unwrap(), kept);
    // Nothing of the attempts is left, so there is still room for what fits.
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 1);
    store.put("small", vec![1; 50_000]).unwrap();
}
