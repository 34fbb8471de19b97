//! Where no fingerprint was told, any certificate will do: then the secret has to tell everything, also
//! that nobody sits in between.

use tokio::io::{copy_bidirectional, duplex};

use super::*;

/// Two ends of a connection.
fn pipe() -> (Box<dyn Stream>, Box<dyn Stream>) {
    let (one, other) = duplex(1 << 16);
    (Box::new(one), Box::new(other))
}

/// The one who knocks, without a fingerprint.
async fn knocks(stream: Box<dyn Stream>, access: &Access) -> Result<Box<dyn Stream>, Refusal> {
    ask(stream, "", access, "the door").await
}

async fn answers(stream: Box<dyn Stream>, access: &Access) -> Result<Box<dyn Stream>, Refusal> {
    answer(stream, access, "a peer").await
}

#[tokio::test]
async fn any_certificate_will_do_with_the_right_secret() {
    let secret = Secret::random();
    let (one, other) = (Access::secure(secret.clone()), Access::secure(secret));
    assert_ne!(one.fingerprint(), other.fingerprint());
    let (here, there) = pipe();
    let (knocked, answered) = tokio::join!(knocks(here, &one), answers(there, &other));
    let (mut knocked, mut answered) = (knocked.unwrap(), answered.unwrap());
    send(&mut *knocked, b"hello").await.unwrap();
    let mut heard = [0; 5];
    answered.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"hello");
}

#[tokio::test]
async fn none_will_do_with_a_wrong_secret() {
    let (one, other) = (Access::secure(Secret::random()), Access::secure(Secret::random()));
    let (here, there) = pipe();
    let (knocked, answered) = tokio::join!(knocks(here, &one), answers(there, &other));
    assert_eq!(knocked.err(), Some(Refusal::Unwanted { who: "the door".into() }));
    assert_eq!(answered.err(), Some(Refusal::Secret { who: "a peer".into() }));
}

/// One who lets everybody in, to hear what they say.
#[tokio::test]
async fn who_answers_without_the_secret_is_refused() {
    let (ours, theirs) = (Access::secure(Secret::random()), Access::secure(Secret::random()));
    let (here, there) = pipe();
    let pretends = async {
        let (mut stream, _) = tls::accept(theirs.acceptor().unwrap(), there).await.unwrap();
        read_hello(&mut *stream, "a peer").await.unwrap();
        send(&mut *stream, &hello(&[7; 32])).await.unwrap();
        let mut proof = [0; PROOF_BYTES];
        stream.read_exact(&mut proof).await.unwrap();
        // Sent back, its own proof is no answer to it either.
        send(&mut *stream, &proof).await.unwrap();
        stream
    };
    let (knocked, _stream) = tokio::join!(knocks(here, &ours), pretends);
    assert_eq!(knocked.err(), Some(Refusal::Secret { who: "the door".into() }));
}

/// One who knows no secret, and hands everything on between two who do.
#[tokio::test]
async fn who_sits_in_between_is_found() {
    let secret = Secret::random();
    let (one, other) = (Access::secure(secret.clone()), Access::secure(secret));
    let between = Access::secure(Secret::random());
    let (here, near) = pipe();
    let (far, there) = pipe();
    let relay = tokio::spawn(async move {
        let (mut near, _) = tls::accept(between.acceptor().unwrap(), near).await.unwrap();
        let (mut far, _) = tls::connect("", far).await.unwrap();
        // Both may have left.
        let _ = copy_bidirectional(&mut near, &mut far).await;
    });
    let (knocked, answered) = tokio::join!(knocks(here, &one), answers(there, &other));
    relay.abort();
    assert_eq!(answered.err(), Some(Refusal::Secret { who: "a peer".into() }));
    assert!(knocked.is_err(), "the relay was taken for the door");
}
