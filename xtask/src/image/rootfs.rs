//! What lies in the image: no shell, no package, nothing but the program and what it stands on.
//!
//! There are no certificates: the program trusts a list that is built in where the system has none.
//! A site's own list is mounted at `/etc/ssl/certs/ca-certificates.crt`.

use super::config::{PROGRAM, RUNS, USER, USER_NAME};
use super::libraries::Libraries;
use super::tar::Tar;

/// Engines mount over these, and cannot make them where the root may not be written.
const MOUNT_POINTS: [&str; 3] = ["dev", "proc", "sys"];

/// Everything but the program: it changes with the machine that builds, not with our code.
pub(super) fn system(libraries: &Libraries) -> Tar {
    let mut tar = Tar::default();
    for folder in MOUNT_POINTS {
        tar.folder(folder, 0o755, 0);
    }
    tar.folder("tmp", 0o1777, 0);
    tar.folder(inside(RUNS), 0o755, USER);
    for (path, contents) in settings() {
        tar.file(path, 0o644, contents);
    }
    for (path, contents) in &libraries.files {
        tar.file(inside(path), 0o755, contents.as_slice());
    }
    tar
}

/// The program alone, as it was built: its symbols stay, so that a backtrace in a log names
/// functions, and the image does not depend on which `strip` a machine has.
pub(super) fn program(binary: &[u8]) -> Tar {
    let mut tar = Tar::default();
    tar.file(inside(PROGRAM), 0o755, binary);
    tar
}

/// What glibc reads to know users and to resolve names. Kubernetes and Docker mount hosts of their
/// own; elsewhere `localhost` must be known too.
fn settings() -> [(&'static str, String); 4] {
    let passwd = format!(
        "root:x:0:0:root:/:/usr/sbin/nologin\n\
         {USER_NAME}:x:{USER}:{USER}:{USER_NAME}:{RUNS}:/usr/sbin/nologin\n"
    );
    [
        ("etc/group", format!("root:x:0:\n{USER_NAME}:x:{USER}:\n")),
        ("etc/hosts", "127.0.0.1 localhost\n::1 localhost\n".into()),
        ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".into()),
        ("etc/passwd", passwd),
    ]
}

/// A path as archives write it.
fn inside(path: &str) -> &str {
    path.trim_start_matches('/')
}
