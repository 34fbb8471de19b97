//! Who gets through a door, and what the others are told.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use collective::{
    Access, BoxFuture, Door, Listen, Memory, Net, Refusal, Secret, Sockets, Stream, Wire, knock,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// A door that sends back the first frame of whoever gets through, and what it told of the others.
struct Inn {
    net: Arc<dyn Net>,
    address: String,
    access: Access,
    lines: Arc<Mutex<Vec<String>>>,
    host: JoinHandle<()>,
}

impl Inn {
    async fn open(net: impl Net, access: Access) -> Inn {
        let net: Arc<dyn Net> = Arc::new(net);
        let lines = Arc::new(Mutex::new(vec![]));
        let kept = Arc::clone(&lines);
        let refused = Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_owned()));
        let door = Door::open(Arc::clone(&net), "127.0.0.1:0", access.clone(), refused).await;
        let door = door.unwrap();
        let address = door.address().to_owned();
        Inn { net, address, access, lines, host: tokio::spawn(serve(door)) }
    }

    async fn knock(&self, fingerprint: &str, access: &Access) -> Result<Wire, Refusal> {
        knock(&*self.net, &self.address, fingerprint, access).await
    }

    /// A peer of the same run still gets through.
    async fn is_open(&self) {
        let wire = self.knock(self.access.fingerprint(), &self.access).await.unwrap();
        let (mut reader, mut writer) = wire.split();
        writer.send(b"are you there").await.unwrap();
        assert_eq!(reader.receive(100).await.unwrap().unwrap(), b"are you there");
    }

    /// Waits for a line that says this. The door is told of a peer before it hears the next one.
    async fn says(&self, part: &str) {
        while !self.lines.lock().unwrap().iter().any(|line| line.contains(part)) {
            self.is_open().await;
        }
    }
}

impl Drop for Inn {
    fn drop(&mut self) {
        self.host.abort();
    }
}

async fn serve(mut door: Door) {
    loop {
        let (mut reader, mut writer) = door.accept().await.unwrap().split();
        tokio::spawn(async move {
            while let Ok(Some(frame)) = reader.receive(1_000).await {
                writer.send(&frame).await.unwrap();
            }
            // Whoever was cut off cannot be told.
            let _ = writer.close().await;
        });
    }
}

async fn memory() -> Inn {
    Inn::open(Memory::new(), Access::plain(Secret::random())).await
}

async fn sockets() -> Inn {
    Inn::open(Sockets, Access::secure(Secret::random())).await
}

#[tokio::test]
async fn those_who_know_the_secret_get_through() {
    let inn = sockets().await;
    inn.is_open().await;
    let secret = Secret::from_hex(&Secret::random().to_hex()).unwrap();
    let plain = Inn::open(Sockets, Access::plain(secret)).await;
    plain.is_open().await;
    memory().await.is_open().await;
    assert_eq!(inn.access.fingerprint().len(), 64);
    assert_eq!(plain.access.fingerprint(), "");
}

#[tokio::test]
async fn another_secret_is_refused_on_both_sides() {
    for inn in [memory().await, sockets().await] {
        let fingerprint = inn.access.fingerprint();
        let stranger = match fingerprint {
            "" => Access::plain(Secret::random()),
            _ => Access::secure(Secret::random()),
        };
        let refusal = inn.knock(fingerprint, &stranger).await.err().unwrap();
        let who = format!("the peer at {}", inn.address);
        assert_eq!(refusal, Refusal::Unwanted { who });
        inn.says("did not prove the run's secret").await;
        inn.says(if fingerprint.is_empty() { "a peer at memory " } else { "a peer at 127.0.0.1:" })
            .await;
    }
}

#[tokio::test]
async fn who_breaks_down_at_a_proof_has_not_refused_it() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let access = Access::plain(Secret::random());
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(&[&b"TYRD\0\x01"[..], &[1; 32]].concat()).await.unwrap();
        let mut heard = [0; 38 + 32];
        stream.read_exact(&mut heard).await.unwrap();
        // So that it ends without a goodbye.
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    };
    let (refusal, ()) = tokio::join!(knock(&Sockets, &address, "", &access), answer);
    let refusal = refusal.err().unwrap();
    assert!(matches!(refusal, Refusal::Torn { .. }), "{refusal}");
}

/// Fails until a moment comes, as where there are too many files.
struct Exhausted {
    listener: Box<dyn Listen>,
    until: Instant,
}

struct Exhaustible(Memory, Instant);

impl Net for Exhaustible {
    fn listen<'a>(&'a self, at: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listen>>> {
        Box::pin(async move {
            let listener = self.0.listen(at).await?;
            Ok(Box::new(Exhausted { listener, until: self.1 }) as Box<dyn Listen>)
        })
    }

    fn connect<'a>(&'a self, to: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        self.0.connect(to)
    }
}

impl Listen for Exhausted {
    fn address(&self) -> &str {
        self.listener.address()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(Box<dyn Stream>, String)>> {
        if Instant::now() < self.until {
            return Box::pin(async { Err(io::Error::other("too many open files")) });
        }
        self.listener.accept()
    }
}

/// As a server does that has many requests to see to.
#[tokio::test(start_paused = true)]
async fn a_door_that_is_often_looked_away_from_recovers() {
    let net = Arc::new(Exhaustible(Memory::new(), Instant::now() + Duration::from_secs(2)));
    let access = Access::plain(Secret::random());
    let mut door = Door::open(net.clone(), "", access.clone(), Arc::new(|_| {})).await.unwrap();
    let address = door.address().to_owned();
    let come = tokio::spawn(async move { knock(&*net, &address, "", &access).await.is_ok() });
    loop {
        match tokio::time::timeout(Duration::from_millis(1), door.accept()).await {
            Ok(wire) => break drop(wire.unwrap()),
            Err(_) => continue,
        }
    }
    assert!(come.await.unwrap());
}

#[tokio::test]
async fn a_certificate_that_was_not_told_is_refused() {
    let inn = sockets().await;
    let other = Access::secure(Secret::random());
    for fingerprint in [other.fingerprint(), "nonsense"] {
        let refusal = inn.knock(fingerprint, &inn.access).await.err().unwrap();
        assert!(matches!(refusal, Refusal::Certificate { .. }), "{refusal}");
    }
    inn.is_open().await;
}

#[tokio::test]
async fn where_no_certificate_was_told_the_secret_alone_tells() {
    let secret = Secret::random();
    let inn = Inn::open(Sockets, Access::secure(secret.clone())).await;
    let wire = inn.knock("", &Access::secure(secret)).await.unwrap();
    let (mut reader, mut writer) = wire.split();
    writer.send(b"hello").await.unwrap();
    assert_eq!(reader.receive(100).await.unwrap().unwrap(), b"hello");
    let refusal = inn.knock("", &Access::secure(Secret::random())).await.err().unwrap();
    assert!(matches!(refusal, Refusal::Unwanted { .. }), "{refusal}");
    inn.says("did not prove the run's secret").await;
}

#[tokio::test]
async fn another_version_is_told_to_both_sides() {
    let inn = memory().await;
    let mut stream = inn.net.connect(&inn.address).await.unwrap();
    let hello = [&b"TYRD"[..], &7u16.to_be_bytes(), &[1; 32]].concat();
    stream.write_all(&hello).await.unwrap();
    let mut answer = [0; 38];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer[..6], b"TYRD\0\x01");
    let mut rest = vec![];
    stream.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "a stranger gets nothing made from the secret");
    inn.says("speaks protocol 7, this program 1: use the same version of trainyard everywhere")
        .await;
}

#[tokio::test]
async fn who_knocks_hears_of_another_version() {
    let net = Memory::new();
    let mut listener = net.listen("").await.unwrap();
    let access = Access::plain(Secret::random());
    let address = listener.address().to_owned();
    let answer = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let hello = [&b"TYRD"[..], &9u16.to_be_bytes(), &[1; 32]].concat();
        stream.write_all(&hello).await.unwrap();
        stream
    };
    let (refusal, _stream) = tokio::join!(knock(&net, &address, "", &access), answer);
    let refusal = refusal.err().unwrap().to_string();
    let expected = "the peer at memory:1 speaks protocol 9, this program 1: \
                    use the same version of trainyard everywhere";
    assert_eq!(refusal, expected);
}

#[tokio::test]
async fn a_proof_that_was_seen_before_is_worth_nothing() {
    let inn = memory().await;
    // A peer that lies in between: it hears a true peer, and says the same to the door.
    let between = Memory::new();
    let mut listener = between.listen("").await.unwrap();
    let address = listener.address().to_owned();
    let (mut heard, mut true_peer) = (vec![0; 38 + 32], None);
    let record = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_exact(&mut heard[..38]).await.unwrap();
        stream.write_all(&[&b"TYRD\0\x01"[..], &[1; 32]].concat()).await.unwrap();
        stream.read_exact(&mut heard[38..]).await.unwrap();
        true_peer = Some(stream);
    };
    tokio::select! {
        _ = knock(&between, &address, "", &inn.access) => panic!("nobody answered"),
        () = record => (),
    }
    let mut stream = inn.net.connect(&inn.address).await.unwrap();
    stream.write_all(&heard).await.unwrap();
    inn.says("did not prove the run's secret").await;
    // Nor can the door's nonce be reflected: who answers proves under another label.
    drop(true_peer);
}

#[tokio::test]
async fn garbage_is_refused() {
    for inn in [memory().await, sockets().await] {
        for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 5_000], b"TYR", b""] {
            let mut stream = inn.net.connect(&inn.address).await.unwrap();
            // The door may have closed before everything is written.
            let _ = stream.write_all(garbage).await;
            let _ = stream.shutdown().await;
            let mut rest = vec![];
            let _ = stream.read_to_end(&mut rest).await;
        }
        inn.says("does not speak trainyard's protocol").await;
        inn.says("broke off before the connection was made").await;
    }
}

#[tokio::test]
async fn plain_and_encrypted_do_not_mix() {
    let inn = sockets().await;
    let plain = Access::plain(Secret::random());
    assert!(inn.knock("", &plain).await.is_err());
    inn.says("does not speak trainyard's protocol").await;
    let inn = Inn::open(Sockets, plain).await;
    assert!(inn.knock(inn.access.fingerprint(), &Access::secure(Secret::random())).await.is_err());
    inn.says("does not speak trainyard's protocol").await;
}

#[tokio::test(start_paused = true)]
async fn silence_ends_and_keeps_nobody_waiting() {
    let inn = memory().await;
    let mut silent = vec![];
    for _ in 0..200 {
        silent.push(inn.net.connect(&inn.address).await.unwrap());
    }
    inn.is_open().await;
    inn.says("had to make room").await;
    tokio::time::sleep(Duration::from_secs(6)).await;
    for mut stream in silent {
        let mut rest = vec![];
        stream.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"");
    }
    assert!(inn.lines.lock().unwrap().len() <= 25, "a flood is told in few lines");
    inn.is_open().await;
}

#[tokio::test(start_paused = true)]
async fn who_knocks_does_not_wait_for_ever() {
    let net = Memory::new();
    let mut listener = net.listen("").await.unwrap();
    let address = listener.address().to_owned();
    let access = Access::plain(Secret::random());
    let (refusal, _stream) = tokio::join!(knock(&net, &address, "", &access), listener.accept());
    let who = format!("the peer at {address}");
    assert_eq!(refusal.err(), Some(Refusal::Silent { who, seconds: 5 }));
    let refusal = knock(&net, "memory:9", "", &access).await.err().unwrap();
    assert_eq!(
        refusal.to_string(),
        "the peer at memory:9 cannot be reached: nobody listens at memory:9"
    );
}

#[tokio::test]
async fn long_frames_pass_encrypted() {
    let inn = sockets().await;
    let wire = inn.knock(inn.access.fingerprint(), &inn.access).await.unwrap();
    let (mut reader, mut writer) = wire.split();
    for length in [0, 1, 999, 1_000] {
        let frame = vec![length.to_string().as_bytes()[0]; length];
        writer.send(&frame).await.unwrap();
        assert_eq!(reader.receive(1_000).await.unwrap().unwrap(), frame);
    }
    writer.close().await.unwrap();
    assert_eq!(reader.receive(1_000).await.unwrap(), None);
}
