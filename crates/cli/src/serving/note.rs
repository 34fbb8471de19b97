//! Where a run's page is, while it is shown: a note in the run's folder, for whoever opens it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{link, token};

/// How long a page on this machine may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the note says.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    address: SocketAddr,
    token_file: Option<PathBuf>,
}

/// A note that is there as long as this is.
#[derive(Debug)]
pub(super) struct Written(PathBuf);

impl Written {
    pub(super) fn new(
        path: &Path,
        address: SocketAddr,
        token_file: Option<&Path>,
    ) -> anyhow::Result<Written> {
        let note = Note { address, token_file: token_file.map(Path::to_owned) };
        store::publish_private(path, &serde_json::to_vec(&note)?)?;
        Ok(Written(path.to_owned()))
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // One that is left behind leads to nobody, and is not believed.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A link to the page that a note leads to, if that answers.
pub(crate) fn follow(path: &Path) -> Option<String> {
    let note: Note = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
    let mut address = note.address;
    if address.ip().is_unspecified() {
        address.set_ip([127, 0, 0, 1].into());
    }
    let token = match note.token_file {
        Some(file) if file.exists() => Some(token::read(&file).ok()?),
        _ => None,
    };
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let token = token.as_ref().map(serve::Token::reveal);
    stream.write_all(link::request(&address.to_string(), token).as_bytes()).ok()?;
    let mut answer = vec![];
    stream.take(link::MOST_BYTES).read_to_end(&mut answer).ok()?;
    let path = link::path(&answer).ok()?;
    Some(format!("http://{address}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_that_leads_to_nobody_is_not_believed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let path = folder.path().join("page.json");
        assert_eq!(follow(&path), None);
        let held = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
        let address = held.local_addr().expect("it has an address");
        drop(held);
        let written = Written::new(&path, address, None).expect("it can be written");
        assert!(path.exists());
        assert_eq!(follow(&path), None);
        drop(written);
        assert!(!path.exists());
        std::fs::write(&path, "{}").expect("it can be written");
        assert_eq!(follow(&path), None);
    }
}
