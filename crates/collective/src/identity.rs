//! What a process is known by: a certificate and its key.
//!
//! Most processes make one when they start and forget it when they end. A driver keeps its own in a
//! file, so that whoever was told its fingerprint finds the next driver of the run under the same.

use std::fmt;

use thiserror::Error;
use tokio_rustls::TlsAcceptor;

use crate::secret::{from_hex, to_hex};
use crate::tls;

/// A certificate and its key, never shown, not even for debugging.
#[derive(Clone)]
pub struct Identity {
    certificate: Vec<u8>,
    key: Vec<u8>,
    pub(crate) acceptor: TlsAcceptor,
    fingerprint: String,
}

/// A text that is no identity. It does not say what the text was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("this is no certificate with its key; remove the file, and a new one is made")]
pub struct BadIdentity;

impl Identity {
    /// A new one, that nobody else has.
    pub fn fresh() -> Identity {
        let (certificate, key) = tls::make_certificate();
        Identity::of(certificate, key).expect("what was just made belongs together")
    }

    /// Two lines of text, for a file that only its owner may read.
    pub fn to_text(&self) -> String {
        format!("{}\n{}\n", to_hex(&self.certificate), to_hex(&self.key))
    }

    /// The identity that [`Identity::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Identity, BadIdentity> {
        let mut lines = text.lines().map(from_hex);
        match (lines.next().flatten(), lines.next().flatten(), lines.next()) {
            (Some(certificate), Some(key), None) => Identity::of(certificate, key),
            _ => Err(BadIdentity),
        }
    }

    /// The SHA-256 of the certificate in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn of(certificate: Vec<u8>, key: Vec<u8>) -> Result<Identity, BadIdentity> {
        let acceptor = tls::acceptor(&certificate, &key).ok_or(BadIdentity)?;
        let fingerprint = tls::fingerprint(&certificate);
        Ok(Identity { certificate, key, acceptor, fingerprint })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_survives_being_written() {
        let identity = Identity::fresh();
        let read = Identity::from_text(&identity.to_text()).unwrap();
        assert_eq!(read.fingerprint(), identity.fingerprint());
        assert_eq!(read.to_text(), identity.to_text());
        assert_ne!(Identity::fresh().fingerprint(), identity.fingerprint());
    }

    #[test]
    fn other_texts_and_foreign_keys_are_refused() {
        let (one, other) = (Identity::fresh().to_text(), Identity::fresh().to_text());
        let mixed: Vec<&str> = one.lines().take(1).chain(other.lines().skip(1)).collect();
        for text in ["", "00\n00\n", &one[1..], &format!("{one}00"), &mixed.join("\n")] {
            assert_eq!(Identity::from_text(text).err(), Some(BadIdentity));
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let identity = Identity::fresh();
        assert!(!format!("{identity:?}").contains(&to_hex(&identity.key)[8..16]));
    }
}
