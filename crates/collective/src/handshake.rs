//! How two processes prove to each other that they belong to the same run.
//!
//! 1. TLS, unless the access is plain. Who knocks checks the fingerprint of the other's certificate.
//! 2. Each sends a hello: `TYRD`, the version of the protocol, 32 random bytes (the nonce).
//! 3. Who knocked proves the secret: HMAC-SHA256 over a label, both nonces and the TLS session.
//! 4. Only when that is right does the other one answer with its proof, over a label of its own.
//!
//! So a stranger who knocks never sees anything made from the secret. A proof is good for one
//! connection: both nonces are new, and it holds for one TLS session. Nobody can send a proof back to
//! the one who made it, since the labels differ. Wrong versions are told to both sides: the hello is
//! sent before anybody leaves.

#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::rustls::{CertificateError, Error as TlsError};

use crate::net::Stream;
use crate::secret::random_bytes;
use crate::tls::{self, Binding};
use crate::{Access, Refusal, Secret};

/// The version of everything that is sent between processes. Both ends must have the same.
pub(crate) const PROTOCOL: u16 = 1;
const MAGIC: [u8; 4] = *b"TYRD";
const HELLO_BYTES: usize = 38;
const PROOF_BYTES: usize = 32;
/// How long both sides together may take.
pub(crate) const TIME: Duration = Duration::from_secs(5);

/// The one who knocks and the one who answers, as they name themselves in their proofs.
const KNOCKS: &[u8] = b"trainyard proof of the one who knocks";
const ANSWERS: &[u8] = b"trainyard proof of the one who answers";

type Nonce = [u8; 32];

/// Answers one who knocks, as far as a proved connection.
pub(crate) async fn answer(
    stream: Box<dyn Stream>,
    access: &Access,
    who: &str,
) -> Result<Box<dyn Stream>, Refusal> {
    let torn = |problem: io::Error| torn(who, &problem);
    let (mut stream, binding) = match access.acceptor() {
        Some(acceptor) => tls::accept(acceptor, stream).await.map_err(torn)?,
        None => (stream, Binding::new()),
    };
    answer_plainly(&mut stream, access.secret(), &binding, who).await?;
    Ok(stream)
}

/// Knocks, as far as a proved connection.
pub(crate) async fn ask(
    stream: Box<dyn Stream>,
    fingerprint: &str,
    access: &Access,
    who: &str,
) -> Result<Box<dyn Stream>, Refusal> {
    let (mut stream, binding) = match access.acceptor() {
        Some(_) => {
            tls::connect(fingerprint, stream).await.map_err(|problem| torn(who, &problem))?
        }
        None => (stream, Binding::new()),
    };
    ask_plainly(&mut stream, access.secret(), &binding, who).await?;
    Ok(stream)
}

/// Gives a handshake its time.
pub(crate) async fn in_time<T>(
    handshake: impl Future<Output = Result<T, Refusal>>,
    who: &str,
) -> Result<T, Refusal> {
    let silent = |_| Refusal::Silent { who: who.to_owned(), seconds: TIME.as_secs() };
    timeout(TIME, handshake).await.map_err(silent)?
}

/// The part of the one who answers, over a stream that is private already.
pub(crate) async fn answer_plainly<S: Stream + ?Sized>(
    stream: &mut S,
    secret: &Secret,
    binding: &[u8],
    who: &str,
) -> Result<(), Refusal> {
    let torn = |problem: io::Error| torn(who, &problem);
    let (version, theirs) = read_hello(stream, who).await?;
    let ours = random_bytes();
    send(stream, &hello(&ours)).await.map_err(torn)?;
    check_version(version, who)?;
    let mut proof = [0; PROOF_BYTES];
    stream.read_exact(&mut proof).await.map_err(torn)?;
    if !secret.accepts(&message(KNOCKS, &theirs, &ours, binding), &proof) {
        return Err(Refusal::Secret { who: who.to_owned() });
    }
    let answer = secret.prove(&message(ANSWERS, &theirs, &ours, binding));
    send(stream, &answer).await.map_err(torn)
}

/// The part of the one who knocks, over a stream that is private already.
pub(crate) async fn ask_plainly<S: Stream + ?Sized>(
    stream: &mut S,
    secret: &Secret,
    binding: &[u8],
    who: &str,
) -> Result<(), Refusal> {
    let ours = random_bytes();
    send(stream, &hello(&ours)).await.map_err(|problem| torn(who, &problem))?;
    let (version, theirs) = read_hello(stream, who).await?;
    check_version(version, who)?;
    let proof = secret.prove(&message(KNOCKS, &ours, &theirs, binding));
    send(stream, &proof).await.map_err(|problem| torn(who, &problem))?;
    let mut answer = [0; PROOF_BYTES];
    // From here on, somebody who takes leave does so because of the proof.
    stream.read_exact(&mut answer).await.map_err(|problem| match problem.kind() {
        io::ErrorKind::UnexpectedEof => Refusal::Unwanted { who: who.to_owned() },
        _ => torn(who, &problem),
    })?;
    if secret.accepts(&message(ANSWERS, &ours, &theirs, binding), &answer) {
        Ok(())
    } else {
        Err(Refusal::Secret { who: who.to_owned() })
    }
}

fn hello(nonce: &Nonce) -> [u8; HELLO_BYTES] {
    let mut hello = [0; HELLO_BYTES];
    hello[..4].copy_from_slice(&MAGIC);
    hello[4..6].copy_from_slice(&PROTOCOL.to_be_bytes());
    hello[6..].copy_from_slice(nonce);
    hello
}

/// The version that the other one speaks, and its nonce. Its first four bytes are looked at before
/// the rest is waited for: who speaks something else may send less.
async fn read_hello<S: Stream + ?Sized>(
    stream: &mut S,
    who: &str,
) -> Result<(u16, Nonce), Refusal> {
    let torn = |problem: io::Error| torn(who, &problem);
    let mut magic = [0; 4];
    stream.read_exact(&mut magic).await.map_err(torn)?;
    if magic != MAGIC {
        return Err(Refusal::Foreign { who: who.to_owned() });
    }
    let mut version = [0; 2];
    stream.read_exact(&mut version).await.map_err(torn)?;
    let mut nonce = [0; 32];
    stream.read_exact(&mut nonce).await.map_err(torn)?;
    Ok((u16::from_be_bytes(version), nonce))
}

fn check_version(theirs: u16, who: &str) -> Result<(), Refusal> {
    if theirs == PROTOCOL {
        return Ok(());
    }
    Err(Refusal::Version { who: who.to_owned(), theirs, ours: PROTOCOL })
}

/// What is proved. Everything but the binding has a fixed length, so no two messages run together.
fn message(label: &[u8], knocker: &Nonce, answerer: &Nonce, binding: &[u8]) -> Vec<u8> {
    [label, knocker, answerer, binding].concat()
}

async fn send<S: Stream + ?Sized>(stream: &mut S, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

fn torn(who: &str, problem: &io::Error) -> Refusal {
    let who = who.to_owned();
    let tls = problem.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    match tls {
        Some(TlsError::InvalidCertificate(CertificateError::ApplicationVerificationFailure)) => {
            Refusal::Certificate { who }
        }
        Some(TlsError::InvalidMessage(_)) => Refusal::Foreign { who },
        _ => Refusal::Torn { who, problem: problem.to_string() },
    }
}
