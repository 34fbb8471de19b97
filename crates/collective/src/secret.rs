//! What the processes of one run know and nobody else does.

use std::fmt;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use thiserror::Error;

const BYTES: usize = 32;

/// A run's secret: 32 random bytes. It is never shown, not even for debugging.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; BYTES]);

/// A text that is no secret. It does not say what the text was.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("a run's secret is {} hexadecimal characters, this text of {length} is not; start the run again", 2 * BYTES)]
pub struct BadSecret {
    length: usize,
}

impl Secret {
    /// A new secret, from the system's randomness.
    pub fn random() -> Secret {
        Secret(random_bytes())
    }

    /// The secret as 64 hexadecimal characters, for a file that only its owner may read.
    pub fn to_hex(&self) -> String {
        to_hex(&self.0)
    }

    /// The secret that [`Secret::to_hex`] wrote.
    pub fn from_hex(text: &str) -> Result<Secret, BadSecret> {
        let bytes = from_hex(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Secret).ok_or(BadSecret { length: text.len() })
    }

    /// Proves the knowledge of the secret to somebody who knows it too: a code over `message` that
    /// tells nothing of it.
    pub(crate) fn prove(&self, message: &[u8]) -> [u8; 32] {
        let code = hmac::sign(&self.key(), message);
        let mut proof = [0; 32];
        proof.copy_from_slice(code.as_ref());
        proof
    }

    /// Whether `proof` was made with this secret, in a time that does not depend on how it differs.
    pub(crate) fn accepts(&self, message: &[u8], proof: &[u8]) -> bool {
        hmac::verify(&self.key(), message, proof).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(not shown)")
    }
}

/// Random bytes that nobody can guess.
pub(crate) fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that [`to_hex`] wrote.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let digits: Option<Vec<u8>> = text.as_bytes().iter().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_survives_being_written() {
        let secret = Secret::random();
        assert_eq!(Secret::from_hex(&secret.to_hex()), Ok(secret.clone()));
        assert_ne!(Secret::random(), secret);
    }

    #[test]
    fn other_texts_are_refused_and_not_shown() {
        for text in ["", "abc", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            let problem = Secret::from_hex(text).unwrap_err().to_string();
            assert!(text.is_empty() || !problem.contains(text), "{problem}");
        }
    }

    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::random();
        assert_eq!(format!("{secret:?}"), "Secret(not shown)");
    }

    #[test]
    fn a_proof_holds_for_its_message_and_secret_only() {
        let secret = Secret::random();
        let proof = secret.prove(b"message");
        assert!(secret.accepts(b"message", &proof));
        assert!(!secret.accepts(b"another", &proof));
        assert!(!Secret::random().accepts(b"message", &proof));
        assert!(!secret.accepts(b"message", &proof[..31]));
    }
}
