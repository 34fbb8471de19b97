//! A process that is a server: it holds a range of the weights, and answers the workers of whatever
//! group there is.

use collective::{Access, Contact, Door};
use spec::{ParameterServer, Train};

use super::work::Desk;
use crate::message::{Held, Kept, ToDriver, ToProcess};
use crate::orders::Performed;
use crate::roles::server_rules;
use crate::servers::{Counter, Shelf};
use crate::{Error, Pulse};

/// Serves until the driver says that it is enough. `bytes_sent` counts what went to workers.
pub(super) async fn keep(
    desk: Desk<'_>,
    (train, data): (&Train, &str),
    servers: &ParameterServer,
    bytes_sent: &mut u64,
) -> Result<Performed, Error> {
    let rules = server_rules(desk.orders, train, data, servers)?;
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
                Some(ToProcess::Orders(_) | ToProcess::Heard { .. }) => {}
                Some(ToProcess::Save { .. } | ToProcess::Leave) | None => {
                    *bytes_sent = counter.bytes_sent();
                    return Ok(Performed::Stopped);
                }
            },
            wire = door.accept() => match wire {
                Ok(wire) => counter.add(wire),
                Err(error) => return Err(Error::Orders(format!("the door fell shut: {error}"))),
            },
            (line, request) = counter.next() => {
                counter.take(line, request);
                tell(desk.pulse, &counter);
            }
        }
    }
}

fn tell(pulse: &Pulse, counter: &Counter) {
    pulse.moved(counter.shelf.holds().last().copied().unwrap_or(0));
}

async fn open_door(desk: &Desk<'_>) -> Result<Door, Error> {
    let (net, access): (_, Access) = (desk.station.net.clone(), desk.access.clone());
    let listen = &desk.station.listen;
    Door::open(net, listen, access, desk.station.log.clone())
        .await
        .map_err(|error| Error::Orders(format!("cannot listen at {listen}: {error}")))
}
