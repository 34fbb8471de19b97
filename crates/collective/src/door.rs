//! Authenticated connections: a [`Door`] for those who come, and [`knock`] to go to one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

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
    failures: u32,
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
        Ok(Door { listener, address, access, lobby, complaints, failures: 0 })
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
                stream = answer(&mut *self.listener, &mut self.failures) => self.admit(stream?),
            }
        }
    }

    fn admit(&mut self, stream: Box<dyn Stream>) {
        let who = format!("a peer that knocked at {}", self.address);
        let (access, name) = (self.access.clone(), who.clone());
        let handshake =
            async move { handshake::answer(stream, &access, &name).await.map(Wire::new) };
        if let Some(left) = self.lobby.admit(&who, handshake) {
            self.complaints.add(&left.to_string());
        }
    }
}

/// The next who knocks. A listener may fail now and then, as long as it recovers.
async fn answer(listener: &mut dyn Listen, failures: &mut u32) -> io::Result<Box<dyn Stream>> {
    loop {
        match listener.accept().await {
            Ok(stream) => {
                *failures = 0;
                return Ok(stream);
            }
            Err(problem) if *failures == FAILURES => return Err(problem),
            Err(_) => {
                *failures += 1;
                tokio::time::sleep(PAUSE).await;
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
