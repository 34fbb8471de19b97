//! A process of a run, from its first words to its last: it calls the driver, is told its orders,
//! carries them out, and says farewell. A process learns what it is from its orders alone.

mod agree;
mod keep;
mod line;
mod outbox;
mod work;

use std::sync::Arc;
use std::time::Duration;

use collective::{Access, Net, Port, Reach};
use plan::Role;
use spec::Strategy;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::context::Context;
use crate::files::{Files, RunFolder};
use crate::message::{Farewell, Parting, ToProcess};
use crate::orders::{Orders, Performed};
use crate::pulse::Trained;
use crate::{Clock, Error, Join, Kind, Pulse, roles};

use line::{Caller, Line};

/// Where a process stands in the world.
pub struct Station {
    /// How it reaches others.
    pub net: Arc<dyn Net>,
    /// Whether what it sends is encrypted: everywhere but in simulations.
    pub encrypt: bool,
    /// Finds the driver, anew whenever it is gone.
    pub join: Arc<dyn Fn() -> Result<Join, Error> + Send + Sync>,
    /// Its number in the run, if a driver started it.
    pub process: Option<u32>,
    /// Where a driver had it started, where the driver gives it a number only when it calls.
    pub place: Option<String>,
    /// What the system calls it.
    pub pid: u32,
    /// Where the run's folder is.
    pub folder: RunFolder,
    /// Where others of its group may reach it: an address to listen at.
    pub listen: String,
    /// Where workers reach it if it is a server; any port of the same address unless given.
    pub door: Option<String>,
    /// Whether shared memory may be used.
    pub reach: Reach,
    /// The time.
    pub clock: Clock,
    /// Set when the system asks it to leave.
    pub stop: watch::Receiver<bool>,
    /// How long it waits for a driver.
    pub patience: Duration,
    /// Where the line to the driver runs, so that it is kept while this thread computes.
    pub beside: Handle,
    /// What it says for people to read.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
    /// The machine it runs on.
    pub host: String,
    /// The most memory it has held.
    pub peak_rss_bytes: fn() -> u64,
    /// Ends the process where work cannot be left half-way.
    pub exit: Arc<dyn Fn() + Send + Sync>,
}

/// Does what the driver says, to the end.
pub async fn serve(station: Station) -> Result<Performed, Error> {
    let join = (station.join)()?;
    let secret = collective::Secret::from_hex(&join.secret)
        .map_err(|_| Error::Orders("join.json holds no secret; take that of a run".into()))?;
    let access = if station.encrypt { Access::secure(secret) } else { Access::plain(secret) };
    let port = Port::open(
        station.net.clone(),
        &station.listen,
        access.clone(),
        station.reach,
        station.log.clone(),
    )
    .await
    .map_err(|error| Error::Orders(format!("cannot listen at {}: {error}", station.listen)))?;
    let pulse = Arc::new(Pulse::new(port.meter().clone()));
    let mut line = Line::open(
        &station.beside,
        Caller {
            net: station.net.clone(),
            access: access.clone(),
            join: station.join.clone(),
            process: station.process,
            place: station.place.clone(),
            pid: station.pid,
            host: station.host.clone(),
            contact: port.contact(),
            stop: station.stop.clone(),
            patience: station.patience,
            log: station.log.clone(),
            copy: station.folder.scratch().map(|scratch| scratch.join("copy")),
        },
        pulse.clone(),
    );
    let Some(orders) = line.orders().await else {
        line.say_farewell(farewell(&station, &pulse, 0, Parting::Stopped)).await;
        return Ok(Performed::Stopped);
    };
    let mut bytes_sent = 0;
    let ends = (&mut line, &port, &*pulse, &access);
    let performed = perform(&orders, &station, ends, &mut bytes_sent).await;
    let ending = match &performed {
        Ok(Performed::Done) => Parting::Done,
        Ok(Performed::Stopped) => Parting::Stopped,
        Err(error) => Parting::Failed { reason: error.to_string() },
    };
    line.say_farewell(farewell(&station, &pulse, bytes_sent, ending)).await;
    performed
}

async fn perform(
    orders: &Orders,
    station: &Station,
    (line, port, pulse, access): (&mut Line, &Port, &Pulse, &Access),
    bytes_sent: &mut u64,
) -> Result<Performed, Error> {
    let outbox = line.outbox();
    let log = station.log.clone();
    let mut voice = move |kind: Kind| {
        if let Some(text) = crate::describe_kind(&kind) {
            log(&text);
        }
        outbox.say(kind);
    };
    if let Role::Worker { train, data } = &orders.task.role {
        let (voice, files) = (&mut voice, Files::open(orders, station, access)?);
        let files = &Arc::new(files);
        let desk = work::Desk { orders, station, line, port, pulse, access, files, voice };
        if let (true, Strategy::ParameterServer(servers)) = (orders.serves, train.strategy) {
            return keep::keep(desk, (train, data), &servers, bytes_sent).await;
        }
        return work::work(desk, (train, data), bytes_sent).await;
    }
    // Only training is worth saving half-way; all else is made anew, and is left at once.
    let last_words = farewell(station, pulse, 0, Parting::Stopped);
    line.exit_when_asked(&station.beside, last_words, station.exit.clone());
    let (clock, log) = (&station.clock, &*station.log);
    let mut context = Context { clock, stop: &|| false, pulse, log, voice: &mut voice };
    match &orders.task.role {
        Role::Prepare(prepare) => roles::prepare(orders, prepare, &mut context),
        Role::Evaluate { evaluate, model, data } => {
            roles::evaluate(orders, evaluate, (model, data), &mut context)
        }
        Role::Worker { .. } => unreachable!("training was seen to above"),
    }
}

fn farewell(station: &Station, pulse: &Pulse, bytes_sent: u64, ending: Parting) -> Farewell {
    let Trained { time, waited, computed, samples, link } = pulse.trained();
    Farewell {
        ending,
        seconds: time.as_secs_f64(),
        peak_rss_bytes: (station.peak_rss_bytes)(),
        bytes_sent,
        waited_seconds: waited.as_secs_f64(),
        computed_seconds: computed.as_secs_f64(),
        samples,
        link: link.into(),
    }
}

/// Whether these words end a process's work.
fn is_last(words: &ToProcess) -> bool {
    matches!(words, ToProcess::Save { .. } | ToProcess::Leave)
}
