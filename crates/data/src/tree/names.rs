//! Which names in a tree count.

use crate::error::{DataError, Result};

/// No path is longer, and no tree deeper.
const LONGEST: usize = 4096;
pub(super) const DEEPEST: usize = 32;

/// A path as we keep it; `None` for what is hidden or macOS' own. One that would lead out of its
/// archive is refused: it was not made by an honest hand.
pub(super) fn checked(path: &str) -> Result<Option<String>> {
    let refused = |why: &str| {
        let shown = shown(path);
        Err(DataError::malformed(format!("names the file `{shown}`, {why}; make it again")))
    };
    if path.len() > LONGEST || path.contains('\0') {
        return refused("which no file can be called");
    }
    if path.starts_with('/') || path.as_bytes().get(1) == Some(&b':') {
        return refused("which leads out of it");
    }
    let names: Vec<&str> =
        path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    if names.contains(&"..") {
        return refused("which leads out of it");
    }
    if names.len() > DEEPEST {
        return refused("which lies too deep");
    }
    let counts = !names.is_empty() && names.iter().all(|name| is_visible(name));
    Ok(counts.then(|| names.join("/")))
}

/// Whether a file or folder of this name is looked at.
pub(super) fn is_visible(name: &str) -> bool {
    !name.starts_with('.') && name != "__MACOSX"
}

/// A name that may be anything, for a message.
pub(super) fn shown(path: &str) -> String {
    path.chars().take(80).flat_map(char::escape_debug).collect()
}
