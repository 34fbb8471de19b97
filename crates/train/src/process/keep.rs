//! A process that is a server: it holds a range of the weights, and answers the workers of whatever
//! group there is.

use std::collections::BTreeSet;
use std::time::Duration;

use collective::{Access, Contact, Door};
use spec::{ParameterServer, Train};
use tokio::time::{Instant, sleep_until};

use super::work::{Desk, FETCHING};
use crate::message::{Held, Kept, ToDriver, ToProcess};
use crate::orders::Performed;
use crate::roles::server_rules;
use crate::servers::{Counter, Request, Shelf};
use crate::{Error, Pulse};

/// How long a server waits for a worker that saves, where no driver came back: workers may notice that
/// later than it does.
const LINGER: Duration = Duration::from_secs(20);

/// Serves until the driver says that it is enough. `bytes_sent` counts what went to workers.
pub(super) async fn keep(
    desk: Desk<'_>,
    (train, data): (&Train, &str),
    servers: &ParameterServer,
    bytes_sent: &mut u64,
) -> Result<Performed, Error> {
    let rules = server_rules((desk.orders, desk.files), train, data, servers)?;
    let mut counter = Counter::new(Shelf::new(rules, desk.orders.cpu()));
    let mut door = open_door(&desk).await?;
    let contact = Contact {
        address: door.address().to_owned(),
        fingerprint: desk.access.fingerprint().to_owned(),
        host: None,
    };
    let outbox = desk.line.outbox();
    let mut index = None;
    loop {
        tokio::select! {
            biased;
            wish = desk.line.wish() => match wish {
                Some(ToProcess::Halt { generation }) => {
                    counter.turn_to(generation);
                    let steps = counter.shelf.holds();
                    let keeps = Some(Kept { index, steps, contact: contact.clone() });
                    outbox.send(ToDriver::Held(Held { generation, keeps, ..Held::default() }));
                }
                Some(ToProcess::Form(formation)) => {
                    let own = |(process, _): &(u32, Contact)| *process == desk.orders.process;
                    index = formation.servers.iter().position(own);
                }
                Some(ToProcess::Orders(_) | ToProcess::Heard { .. } | ToProcess::KeepCopy) => {}
                Some(ToProcess::Save { .. } | ToProcess::Leave) => {
                    *bytes_sent = counter.bytes_sent();
                    return Ok(Performed::Stopped);
                }
                None => {
                    outlast(&mut counter, &mut door).await;
                    return Ok(Performed::Stopped);
                }
            },
            wire = door.accept() => match wire {
                Ok(wire) => drop(counter.add(wire)),
                Err(error) => return Err(Error::Orders(format!("the door fell shut: {error}"))),
            },
            (line, request) = counter.next() => {
                counter.take(line, request);
                tell(desk.pulse, &counter);
            }
        }
    }
}

/// Stays, where no driver came back, until a worker has saved what is held here.
async fn outlast(counter: &mut Counter, door: &mut Door) {
    let mut callers = BTreeSet::new();
    let mut saver = None;
    let mut end = Instant::now() + LINGER;
    loop {
        tokio::select! {
            biased;
            () = sleep_until(end) => return,
            wire = door.accept() => match wire {
                Ok(wire) => drop(callers.insert(counter.add(wire))),
                Err(_) => return,
            },
            (line, request) = counter.next() => {
                // Whoever called before may fetch in the course of training.
                if matches!(request, Some(Request::Fetch)) && callers.contains(&line) {
                    (saver, end) = (Some(line), Instant::now() + FETCHING);
                }
                let has_left = request.is_none() && saver == Some(line);
                counter.take(line, request);
                if has_left {
                    return;
                }
            }
        }
    }
}

fn tell(pulse: &Pulse, counter: &Counter) {
    pulse.moved(counter.shelf.holds().last().copied().unwrap_or(0));
}

async fn open_door(desk: &Desk<'_>) -> Result<Door, Error> {
    let (net, access): (_, Access) = (desk.station.net.clone(), desk.access.clone());
    let station = desk.station;
    let listen = station.door.as_ref().unwrap_or(&station.listen);
    Door::open(net, listen, access, desk.station.log.clone())
        .await
        .map_err(|error| Error::Orders(format!("cannot listen at {listen}: {error}")))
}
