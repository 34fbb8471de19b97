//! Real data, where it is here.

use std::path::{Path, PathBuf};

/// A file or folder of the real data, or a word on why not.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn real(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not here", path.display());
        return None;
    }
    Some(path)
}
