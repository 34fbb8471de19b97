//! The user's browser, where there is one that can be asked.

use std::process::{Command, Stdio};

/// What opens a page, by the system: the first that is there does.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Opens a page. Where nothing can, the address that was printed has to do.
pub(crate) fn open(address: &str) {
    for opener in OPENERS {
        let mut command = Command::new(opener);
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Ok(mut opened) = command.spawn() {
            // Nobody waits for it, and nothing of it is left.
            std::thread::spawn(move || opened.wait());
            return;
        }
    }
}
