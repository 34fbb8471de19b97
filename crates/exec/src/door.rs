//! Where the run's processes call, and the files that say so.
//!
//! A process on another machine has a copy of `join.json`. So that the copy holds when the driver is
//! killed and run again, the next driver listens with the same secret, under the same certificate (its
//! key is in `driver.key`), and at the same address where it can. Both files are readable by their
//! owner only, and are removed when the run ends: the next one has others.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use collective::{Access, Door, Identity, Net, Secret};
use store::RunDir;
use train::Join;

use crate::ExecError;

/// Opens the door of a run and tells, in `join.json`, where it is.
pub(crate) async fn open(
    run: &RunDir,
    listen: &str,
    net: &Arc<dyn Net>,
    encrypt: bool,
) -> Result<Door, ExecError> {
    let path = run.join();
    let before = Join::read(&path).ok();
    let secret = before.as_ref().and_then(|join| Secret::from_hex(&join.secret).ok());
    let secret = secret.unwrap_or_else(Secret::random);
    let access = match encrypt {
        true => Access::known(secret.clone(), identity(&run.driver_key())?),
        false => Access::plain(secret.clone()),
    };
    let fingerprint = access.fingerprint().to_owned();
    let log = run.log("driver", std::process::id() as usize);
    let refused: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(move |line| append(&log, line));
    let door = open_at((listen, before.as_ref()), net, access, refused).await;
    let door = door.map_err(ExecError::Door)?;
    let (run, address) = (run.id(), door.address().to_owned());
    Join { run, address, fingerprint, secret: secret.to_hex() }.write(&path)?;
    Ok(door)
}

/// Removes what the door needed. Nobody is to join any more.
pub(crate) fn close(run: &RunDir) {
    let _ = std::fs::remove_file(run.join());
    let _ = std::fs::remove_file(run.driver_key());
}

/// What the driver is known by: what an earlier one was, if there was one.
fn identity(path: &Path) -> Result<Identity, ExecError> {
    let kept = std::fs::read_to_string(path).ok();
    if let Some(identity) = kept.and_then(|text| Identity::from_text(&text).ok()) {
        return Ok(identity);
    }
    let identity = Identity::fresh();
    store::publish_private(path, identity.to_text().as_bytes())?;
    Ok(identity)
}

/// Listens where an earlier driver did, if any port will do and that one is free.
async fn open_at(
    (listen, before): (&str, Option<&Join>),
    net: &Arc<dyn Net>,
    access: Access,
    refused: Arc<dyn Fn(&str) + Send + Sync>,
) -> io::Result<Door> {
    if let Some(same) = before.and_then(|join| earlier(listen, &join.address)) {
        let (net, access) = (net.clone(), access.clone());
        if let Ok(door) = Door::open(net, same, access, refused.clone()).await {
            return Ok(door);
        }
    }
    Door::open(net.clone(), listen, access, refused).await
}

/// The earlier address, where it is one of those that are asked for.
fn earlier<'a>(listen: &str, address: &'a str) -> Option<&'a str> {
    let (asked, was): (SocketAddr, SocketAddr) = (listen.parse().ok()?, address.parse().ok()?);
    (asked.port() == 0 && asked.ip() == was.ip()).then_some(address)
}

/// Adds a line to a log, where that can be done.
fn append(path: &Path, line: &str) {
    use std::io::Write as _;
    let _ = path.parent().map(std::fs::create_dir_all);
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let _ = file.and_then(|mut file| writeln!(file, "{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_address_is_taken_where_any_port_will_do() {
        let was = "10.0.0.1:7070";
        assert_eq!(earlier("10.0.0.1:0", was), Some(was));
        for listen in ["10.0.0.1:7071", "10.0.0.2:0", "localhost:0"] {
            assert_eq!(earlier(listen, was), None, "{listen}");
        }
    }

    #[test]
    fn an_identity_is_made_once_and_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("driver.key");
        let first = identity(&path).unwrap();
        assert_eq!(identity(&path).unwrap().fingerprint(), first.fingerprint());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "torn").unwrap();
        assert_ne!(identity(&path).unwrap().fingerprint(), first.fingerprint());
    }
}
