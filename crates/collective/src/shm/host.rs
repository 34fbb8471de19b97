//! Which processes can share memory: those of one user, since one boot of one machine, that see the
//! same abstract sockets.

use std::fs;

use rustix::process::getuid;

use super::segment;
use crate::layout::Host;
use crate::secret::{random_bytes, to_hex};

/// What this process tells others; `None` where the system gives no shared memory.
pub(super) fn this_host() -> Option<Host> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // Abstract sockets belong to a network namespace.
    let namespace = fs::read_link("/proc/self/ns/net").ok()?;
    segment::create(4096).ok()?;
    let id = format!("{} {} user {}", boot.trim(), namespace.display(), getuid().as_raw());
    let name: [u8; 16] = random_bytes();
    Some(Host { id, socket: format!("trainyard-{}", to_hex(&name)) })
}
