//! Authenticated connections: a [`Door`] for those who come, and [`knock`] to go to one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use crate::handshake;
use crate::lobby::Lobby;
use crate::net::{Listen, Net, Stream};
use crate::refusal::{Complaints, Tell};
use crate::{Access, Refusal, Wire};

/// How long a connection may take before the handshake begins.
const CONNECT_TIME: Duration = Duration::from_secs(4);
/// What a listener that fails is given to recover: most often it is out of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// How often in a row a listener may fail before the door gives up.
const FAILURES: u32 = 100;

/// A place where the processes of one run connect, and nobody else can.
pub struct Door {
    listener: Box<dyn Listen>,
    address: String,
    access: Access,
    lobby: Lobby<Wire>,
    complaints: Complaints,
    failures: Failures,
}

/// How a listener fails.
#[derive(Default)]
struct Failures {
    /// How often in a row.
    count: u32,
    /// When it is tried again. Kept here, since whoever waits gives up for anything else there is to do.
    rest_until: Option<Instant>,
}

impl Door {
    /// Opens a door at `at`. `refused` is told, in a sentence each, of those who knocked in vain.
    pub async fn open(
        net: Arc<dyn Net>,
        at: &str,
        access: Access,
        refused: Tell,
    ) -> io::Result<Door> {
        let listener = net.listen(at).await?;
        let address = listener.address().to_owned();
        let (lobby, complaints) = (Lobby::new(), Complaints::new(refused));
        Ok(Door { listener, address, access, lobby, complaints, failures: Failures::default() })
    }

    /// Where others knock.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The next peer that proved the secret. Strangers are refused on the way. Handshakes go on only
    /// while somebody waits here; giving up the call loses nobody. An error means that nobody can
    /// come any more.
    pub async fn accept(&mut self) -> io::Result<Wire> {
        loop {
            tokio::select! {
                biased;
                guest = self.lobby.next() => match guest {
                    Ok(wire) => return Ok(wire),
                    Err(refusal) => self.complaints.add(&refusal.to_string()),
                },
                guest = answer(&mut *self.listener, &mut self.failures) => self.admit(guest?),
            }
        }
    }

    fn admit(&mut self, (stream, from): (Box<dyn Stream>, String)) {
        let who = format!("a peer at {from}");
        let (access, name) = (self.access.clone(), who.clone());
        let handshake =
            async move { handshake::answer(stream, &access, &name).await.map(Wire::new) };
        if let Some(left) = self.lobby.admit(&who, handshake) {
            self.complaints.add(&left.to_string());
        }
    }
}

/// The next who knocks. A listener may fail now and then, as long as it recovers.
async fn answer(
    listener: &mut dyn Listen,
    failures: &mut Failures,
) -> io::Result<(Box<dyn Stream>, String)> {
    loop {
        if let Some(rest_until) = failures.rest_until {
            sleep_until(rest_until).await;
        }
        match listener.accept().await {
            Ok(guest) => {
                *failures = Failures::default();
                return Ok(guest);
            }
            Err(problem) if failures.count == FAILURES => return Err(problem),
            Err(_) => {
                let rest_until = Some(Instant::now() + PAUSE);
                *failures = Failures { count: failures.count + 1, rest_until };
            }
        }
    }
}

/// Connects to the door at `address`, whose certificate has this fingerprint (which nobody looks at
/// where connections are plain).
pub async fn knock(
    net: &dyn Net,
    address: &str,
    fingerprint: &str,
    access: &Access,
) -> Result<Wire, Refusal> {
    let who = format!("the peer at {address}");
    let unreachable =
        |problem: String| Refusal::Unreachable { who: format!("the peer at {address}"), problem };
    let stream = timeout(CONNECT_TIME, net.connect(address))
        .await
        .map_err(|_| unreachable(format!("no answer within {} seconds", CONNECT_TIME.as_secs())))?
        .map_err(|problem| unreachable(problem.to_string()))?;
    let handshake = handshake::ask(stream, fingerprint, access, &who);
    handshake::in_time(handshake, &who).await.map(Wire::new)
}
