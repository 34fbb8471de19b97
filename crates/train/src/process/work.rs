//! A process that trains: it halts, forms groups, trains in them, saves and leaves as the driver says,
//! and keeps what it holds all the while.

use std::sync::Arc;
use std::time::Duration;

use collective::{Access, Broken, Contact, Layout, Port, Seat};
use spec::{Strategy, Train};
use tokio::sync::watch;
use tokio::time::timeout;

use super::Station;
use super::agree::{hand_over, share_state};
use super::line::Line;
use super::outbox::Outbox;
use crate::context::Context;
use crate::event::{Epoch, Kind};
use crate::files::Files;
use crate::fit::{Ending, fit_with};
use crate::message::{Formation, Held, Mark, ToDriver, ToProcess};
use crate::orders::{Orders, Performed};
use crate::pulse::Exchange;
use crate::roles::Worker;
use crate::servers::{Directory, Servers};
use crate::{Error, Pulse};

/// How long servers may take to hand over what they hold, where no driver looks after them.
pub(super) const FETCHING: Duration = Duration::from_secs(60);

/// What a process that trains has at hand.
pub(super) struct Desk<'a> {
    pub(super) orders: &'a Orders,
    pub(super) station: &'a Station,
    pub(super) line: &'a mut Line,
    pub(super) port: &'a Port,
    pub(super) pulse: &'a Pulse,
    pub(super) access: &'a Access,
    pub(super) files: &'a Arc<Files>,
    pub(super) voice: &'a mut dyn FnMut(Kind),
}

/// Trains as the driver says. `bytes_sent` counts what went to other processes.
pub(super) async fn work(
    mut desk: Desk<'_>,
    (train, data): (&Train, &str),
    bytes_sent: &mut u64,
) -> Result<Performed, Error> {
    let outbox = desk.line.outbox();
    let mut worker = Worker::open(desk.orders, (desk.station, desk.files), (train, data))?;
    let mut finished = false;
    // The group it is in, or was in last.
    let mut last: Option<Box<Formation>> = None;
    loop {
        match desk.line.wish().await {
            Some(ToProcess::Halt { generation }) => {
                last.iter_mut().for_each(|group| group.generation = generation);
                outbox.send(ToDriver::Held(held(&worker, generation)));
            }
            Some(ToProcess::Form(formation)) => {
                let generation = formation.generation;
                let trained = train_in(&mut desk, &mut worker, &formation, bytes_sent).await;
                finished |= report(trained, (desk.orders.process, generation), &outbox)?;
                last = Some(formation);
            }
            Some(ToProcess::Leave) if finished => return Ok(Performed::Done),
            Some(ToProcess::Leave) => return Ok(Performed::Stopped),
            Some(ToProcess::Save { whole, servers }) => {
                let fetched = match whole {
                    true => {
                        let generation = *desk.line.fence().borrow();
                        Some(fetch(&desk, &mut worker, (&servers, generation)).await)
                    }
                    false => None,
                };
                return save(desk, worker, fetched);
            }
            Some(ToProcess::Orders(_) | ToProcess::Heard { .. } | ToProcess::KeepCopy) => {}
            None => return save_alone(desk, worker, last).await,
        }
    }
}

/// Saves where no driver came back. What servers hold is saved by the one that hosts rank 0.
async fn save_alone(
    desk: Desk<'_>,
    mut worker: Worker,
    last: Option<Box<Formation>>,
) -> Result<Performed, Error> {
    let Some(group) = last.filter(|group| !group.servers.is_empty()) else {
        return save(desk, worker, Some(Ok(())));
    };
    let leads = |seat: &Seat| seat.process == desk.orders.process && seat.ranks.contains(&0);
    if !group.seats.iter().any(leads) {
        return save(desk, worker, None);
    }
    let fetched = fetch(&desk, &mut worker, (&group.servers, group.generation));
    let late = |_| Err(Error::Unsaved { problem: "they take too long".into() });
    let fetched = timeout(FETCHING, fetched).await.unwrap_or_else(late);
    save(desk, worker, Some(fetched))
}

/// Saves its part: what all share too, where that is its to save and could be had. Where it could not,
/// nothing is amiss as long as nothing was done since the last checkpoint.
fn save(
    desk: Desk<'_>,
    mut worker: Worker,
    whole: Option<Result<(), Error>>,
) -> Result<Performed, Error> {
    worker.save(matches!(whole, Some(Ok(()))), desk.voice)?;
    match whole {
        Some(Err(error)) if !worker.is_saved()? => Err(error),
        _ => Ok(Performed::Stopped),
    }
}

/// Says what became of a group. Whether training is over.
fn report(
    trained: Result<Ending, Error>,
    (me, generation): (u32, u64),
    outbox: &Outbox,
) -> Result<bool, Error> {
    match trained {
        Ok(Ending::Finished) => {
            outbox.send(ToDriver::Finished { generation });
            return Ok(true);
        }
        Ok(Ending::Left) | Err(Error::Broken(Broken::Superseded)) => {}
        Err(Error::Broken(broken)) => {
            let process = match &broken {
                Broken::Lost { process, .. } | Broken::Refused { process, .. } => Some(*process),
                Broken::Unable { .. } => Some(me),
                Broken::Superseded | Broken::Misused { .. } => None,
            };
            let problem = broken.to_string();
            outbox.send(ToDriver::Broken { generation, process, problem });
        }
        Err(error) => return Err(error),
    }
    Ok(false)
}

async fn train_in(
    desk: &mut Desk<'_>,
    worker: &mut Worker,
    formation: &Formation,
    bytes_sent: &mut u64,
) -> Result<Ending, Error> {
    let Some(me) = formation.seat_of(desk.orders.process) else {
        return Ok(Ending::Left);
    };
    let layout = Layout {
        generation: formation.generation,
        world: formation.world,
        seats: formation.seats.clone(),
        me,
        len: worker.trainer.contribution(),
    };
    let mut group = desk.port.form(layout, desk.line.fence()).await?;
    let (pulse, clock, log) = (desk.pulse, &desk.station.clock, &*desk.station.log);
    let mut exchange = Exchange { group: &mut group, pulse, clock, servers: None, log };
    let ending = train_with(desk, worker, formation, &mut exchange).await;
    *bytes_sent += exchange.servers.as_ref().map_or(0, Servers::bytes_sent);
    *bytes_sent += group.bytes_sent();
    ending
}

async fn train_with(
    desk: &mut Desk<'_>,
    worker: &mut Worker,
    formation: &Formation,
    exchange: &mut Exchange<'_>,
) -> Result<Ending, Error> {
    agree(desk, worker, formation, exchange).await?;
    if !formation.servers.is_empty() {
        exchange.servers = Some(agree_with_servers(desk, worker, formation, exchange).await?);
    }
    if exchange.group.ranks().is_empty() {
        return Ok(Ending::Left);
    }
    worker.host(exchange.group)?;
    worker.restore_ranks()?;
    let (clock, pulse, log) = (exchange.clock, exchange.pulse, exchange.log);
    let fence = desk.line.fence();
    let halted = || *fence.borrow() > formation.generation;
    let mut context = Context { clock, stop: &halted, pulse, log, voice: desk.voice };
    let leads = exchange.group.ranks().first() == Some(&0);
    if leads {
        let untold = |epoch: &&Epoch| epoch.epoch > formation.told;
        let untold: Vec<Epoch> =
            worker.trainer.position().epochs.iter().filter(untold).cloned().collect();
        untold.into_iter().for_each(|epoch| context.emit(Kind::Epoch(epoch)));
    }
    let saving = Some(&mut worker.saving);
    let ending = fit_with(&mut worker.trainer, exchange, &mut context, saving).await?;
    // The one that leads has published before anybody says that training is over.
    if ending == Ending::Finished && leads {
        worker.finish(desk.orders, &mut context)?;
    }
    Ok(ending)
}

/// Goes on from the state that the formation names, with what ranks have done since.
async fn agree(
    desk: &mut Desk<'_>,
    worker: &mut Worker,
    formation: &Formation,
    exchange: &mut Exchange<'_>,
) -> Result<(), Error> {
    let me = desk.orders.process;
    let source = formation.seat_of(formation.source).unwrap_or(0);
    if formation.source == me && formation.mark.is_none() {
        worker.restore_newest(formation.generation, desk.voice)?;
    }
    if formation.share {
        let need = formation.source != me && !worker.is_at(formation.mark);
        share_state(&mut worker.trainer, exchange, source, need).await?;
    }
    worker.holds = true;
    for &moved in formation.moves.iter().filter(|moved| moved.from == me || moved.to == me) {
        let seat = |process| formation.seat_of(process).unwrap_or(source);
        let ends = (moved.from == me, seat(moved.from), seat(moved.to));
        hand_over(&mut worker.trainer, exchange, ends, moved).await?;
    }
    Ok(())
}

/// Has the servers hold that state too, and nobody go on before they do.
async fn agree_with_servers(
    desk: &Desk<'_>,
    worker: &mut Worker,
    formation: &Formation,
    exchange: &mut Exchange<'_>,
) -> Result<Servers, Error> {
    let source = formation.seat_of(formation.source).unwrap_or(0);
    let members = formation.seats.iter().filter(|seat| !seat.ranks.is_empty()).count();
    let group = (formation.generation, members);
    let waiting = exchange.wait();
    let mut servers = call(desk, worker, (&formation.servers, group), desk.line.fence()).await?;
    if formation.source == desk.orders.process {
        match formation.mark {
            None => servers.set(&worker.trainer.state()).await?,
            Some(_) if worker.trainer.goes_alone() => {}
            Some(mark) => servers.align(mark.step).await?,
        }
    }
    drop(waiting);
    // Whoever has set them says so.
    exchange.broadcast(source, &mut []).await?;
    if worker.trainer.goes_alone() {
        let _waiting = exchange.wait();
        worker.trainer.take_state(servers.fetch(worker.trainer.parameters(), None).await?);
    }
    Ok(servers)
}

/// Calls the servers.
async fn call(
    desk: &Desk<'_>,
    worker: &Worker,
    (servers, (generation, members)): (&[(u32, Contact)], (u64, usize)),
    fence: watch::Receiver<u64>,
) -> Result<Servers, Broken> {
    let directory = Directory {
        net: &*desk.station.net,
        access: desk.access,
        meter: desk.port.meter(),
        servers,
        generation,
        members,
        count: worker.trainer.parameters(),
    };
    Servers::call(directory, fence).await
}

/// Takes what servers hold, to save it.
async fn fetch(
    desk: &Desk<'_>,
    worker: &mut Worker,
    (servers, generation): (&[(u32, Contact)], u64),
) -> Result<(), Error> {
    let on_servers = matches!(worker.trainer.settings().strategy, Strategy::ParameterServer(_));
    if !on_servers || !worker.holds {
        return Ok(());
    }
    if servers.is_empty() {
        return Err(Error::Unsaved { problem: "a server is gone".into() });
    }
    // No group follows this one, and what the line to the driver hears makes no difference.
    let (_open, fence) = watch::channel(generation);
    let fetched = async {
        // With so many processes at work that no update is made any more.
        let group = (servers, (generation, usize::MAX));
        let mut lines = call(desk, worker, group, fence).await?;
        let step = worker.trainer.step_of_all();
        if let Some(step) = step {
            lines.align(step).await?;
        }
        lines.fetch(worker.trainer.parameters(), step).await
    };
    let fetched = fetched.await;
    let state = fetched.map_err(|broken| Error::Unsaved { problem: broken.to_string() })?;
    worker.trainer.take_state(state);
    Ok(())
}

fn held(worker: &Worker, generation: u64) -> Held {
    let position = worker.trainer.position();
    let mark = Mark { step: position.step, epoch_step: position.epoch_step };
    Held {
        generation,
        mark: worker.holds.then_some(mark),
        replicas: worker.trainer.round.progress().into_iter().collect(),
        keeps: None,
    }
}
