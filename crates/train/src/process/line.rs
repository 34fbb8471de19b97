//! The line to the driver: kept on a thread of its own, so that the driver hears heartbeats while
//! this process computes, and found again when the driver is gone and another takes its place.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use collective::{Access, Contact, Net, Reader, Wire, Writer, knock};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use super::is_last;
use super::outbox::Outbox;
use crate::message::{Farewell, Hello, MAX_FRAME, ToDriver, ToProcess};
use crate::orders::Orders;
use crate::{Error, Join, Pulse, files};

/// How often a heartbeat goes out.
const BEAT: Duration = Duration::from_millis(250);
/// After how long without a word the driver is taken to be gone.
const SILENCE: Duration = Duration::from_secs(10);
/// Between two tries to find a driver.
const RETRY: Duration = Duration::from_millis(100);
/// How long last words may take to be said.
const PARTING: Duration = Duration::from_secs(5);

/// The working end of the line.
pub(crate) struct Line {
    orders: mpsc::UnboundedReceiver<ToProcess>,
    outbox: Arc<Outbox>,
    /// The newest generation that was announced.
    fence: watch::Receiver<u64>,
    /// Turns true when the line has said its last word.
    over: watch::Receiver<bool>,
}

/// What the line calls the driver with.
pub(crate) struct Caller {
    pub(crate) net: Arc<dyn Net>,
    pub(crate) access: Access,
    pub(crate) join: Arc<dyn Fn() -> Result<Join, Error> + Send + Sync>,
    pub(crate) process: Option<u32>,
    pub(crate) place: Option<String>,
    pub(crate) pid: u32,
    pub(crate) host: String,
    pub(crate) contact: Contact,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) patience: Duration,
    pub(crate) log: Arc<dyn Fn(&str) + Send + Sync>,
    /// Where it may keep a copy of the run's folder.
    pub(crate) copy: Option<PathBuf>,
}

impl Line {
    /// Begins to call the driver, beside whatever else goes on.
    pub(crate) fn open(beside: &Handle, caller: Caller, pulse: Arc<Pulse>) -> Line {
        let (wishes, orders) = mpsc::unbounded_channel();
        let (fence, raised) = watch::channel(0);
        let (over, is_over) = watch::channel(false);
        let outbox = Arc::new(Outbox::default());
        let (task, serves, said) = (None, false, outbox.clone());
        let keeper = Keeper { caller, pulse, outbox: said, wishes, fence, task, serves };
        beside.spawn(async move {
            keeper.keep().await;
            over.send_replace(true);
        });
        Line { orders, outbox, fence: raised, over: is_over }
    }

    /// What the driver says next. Nothing means that there is no driver any more.
    pub(crate) async fn wish(&mut self) -> Option<ToProcess> {
        self.orders.recv().await
    }

    /// Waits for orders. None means that there is nothing to do.
    pub(crate) async fn orders(&mut self) -> Option<Orders> {
        loop {
            match self.wish().await? {
                ToProcess::Orders(orders) => return Some(*orders),
                words if is_last(&words) => return None,
                _ => {}
            }
        }
    }

    /// Where what is to be said goes.
    pub(crate) fn outbox(&self) -> Arc<Outbox> {
        self.outbox.clone()
    }

    /// The newest generation that was announced.
    pub(crate) fn fence(&self) -> watch::Receiver<u64> {
        self.fence.clone()
    }

    /// Says the last words, if there is anybody to hear them.
    pub(crate) async fn say_farewell(&mut self, farewell: Farewell) {
        self.outbox.send(ToDriver::Farewell(farewell));
        let _ = timeout(PARTING, self.over.wait_for(|over| *over)).await;
    }

    /// Ends the process as soon as the driver says so, or is gone.
    pub(crate) fn exit_when_asked(
        &mut self,
        beside: &Handle,
        farewell: Farewell,
        exit: Arc<dyn Fn() + Send + Sync>,
    ) {
        let (_, nothing) = mpsc::unbounded_channel();
        let mut orders = std::mem::replace(&mut self.orders, nothing);
        let (outbox, mut over) = (self.outbox.clone(), self.over.clone());
        beside.spawn(async move {
            while orders.recv().await.is_some_and(|words| !is_last(&words)) {}
            outbox.send(ToDriver::Farewell(farewell));
            let _ = timeout(PARTING, over.wait_for(|over| *over)).await;
            exit();
        });
    }
}

/// The end of the line that speaks to the driver.
struct Keeper {
    caller: Caller,
    pulse: Arc<Pulse>,
    outbox: Arc<Outbox>,
    wishes: mpsc::UnboundedSender<ToProcess>,
    fence: watch::Sender<u64>,
    /// The task of this process, once it is known.
    task: Option<String>,
    /// Whether it is a server there.
    serves: bool,
}

/// Why a conversation ended.
enum Hung {
    /// All has been said.
    Up,
    /// The driver is gone.
    Lost,
}

impl Keeper {
    async fn keep(mut self) {
        let mut alone_since: Option<Instant> = None;
        let mut stop = self.caller.stop.clone();
        loop {
            match self.call().await {
                Ok(wire) => {
                    alone_since = None;
                    if matches!(self.converse(wire).await, Hung::Up) {
                        return;
                    }
                    (self.caller.log)("the driver is gone; waiting for another");
                }
                Err(problem) if alone_since.is_none() => (self.caller.log)(&problem),
                Err(_) => {}
            }
            let since = *alone_since.get_or_insert_with(Instant::now);
            if *stop.borrow() {
                return self.leave("asked to leave, and there is no driver; saving and leaving");
            }
            if since.elapsed() > self.caller.patience {
                return self.leave("no driver came; saving and leaving");
            }
            tokio::select! {
                biased;
                Ok(_) = stop.wait_for(|stop| *stop) => {}
                () = sleep(RETRY) => {}
            }
        }
    }

    /// Ends the line. Whoever waits for others waits in vain, and whoever listens hears the end.
    fn leave(&self, why: &str) {
        (self.caller.log)(why);
        self.fence.send_replace(u64::MAX);
    }

    async fn call(&self) -> Result<Wire, String> {
        let join = (self.caller.join)().map_err(|error| error.to_string())?;
        knock(&*self.caller.net, &join.address, &join.fingerprint, &self.caller.access)
            .await
            .map_err(|refusal| format!("cannot reach the driver at {}: {refusal}", join.address))
    }

    async fn converse(&mut self, wire: Wire) -> Hung {
        let (reader, mut writer) = wire.split();
        let hello = Hello {
            process: self.caller.process,
            place: self.caller.place.clone(),
            pid: self.caller.pid,
            host: self.caller.host.clone(),
            contact: self.caller.contact.clone(),
            task: self.task.clone(),
            serves: self.serves,
            generation: *self.fence.borrow(),
        };
        self.outbox.begin_again();
        if !say(&mut writer, &ToDriver::Hello(Box::new(hello))).await {
            return Hung::Lost;
        }
        let mut heard = std::pin::pin!(hear(reader));
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stop = self.caller.stop.clone();
        let (mut told, mut last) = (false, Instant::now());
        loop {
            let outbox = self.outbox.clone();
            // In this order: whoever has much to say gives signs of life all the same.
            let words = tokio::select! {
                biased;
                _ = beats.tick() => {
                    if last.elapsed() > SILENCE {
                        return Hung::Lost;
                    }
                    ToDriver::Beat(self.pulse.beat())
                }
                _ = stop.wait_for(|stop| *stop), if !told => {
                    told = true;
                    ToDriver::Leaving
                }
                (reader, words) = &mut heard => match words {
                    Some(words) => {
                        last = Instant::now();
                        heard.set(hear(reader));
                        self.take(words);
                        continue;
                    }
                    None => return Hung::Lost,
                },
                words = outbox.next() => words,
            };
            let is_farewell = matches!(words, ToDriver::Farewell(_));
            if !say(&mut writer, &words).await {
                // What could not be said is said to the next driver.
                self.outbox.send(words);
                return Hung::Lost;
            }
            if is_farewell {
                return Hung::Up;
            }
        }
    }

    fn take(&mut self, words: ToProcess) {
        match &words {
            ToProcess::Heard { number } => return self.outbox.heard(*number),
            ToProcess::KeepCopy => return self.keep_copy(),
            ToProcess::Halt { generation } => {
                self.fence.send_if_modified(|fence| {
                    let newer = *generation > *fence;
                    *fence = (*fence).max(*generation);
                    newer
                });
            }
            ToProcess::Orders(orders) => {
                self.caller.process = Some(orders.process);
                (self.task, self.serves) = (Some(orders.task.id.clone()), orders.serves);
            }
            _ => {}
        }
        // Whoever works has left when this fails, and needs no more orders.
        let _ = self.wishes.send(words);
    }
}

impl Keeper {
    /// Begins to keep a copy of the run's folder, unless it does already.
    fn keep_copy(&mut self) {
        let Some(folder) = self.caller.copy.take() else { return };
        let Caller { net, access, join, patience, log, .. } = &self.caller;
        let (net, access, join) = (net.clone(), access.clone(), join.clone());
        let caller = files::Caller { net, access, join, patience: *patience };
        match files::keep_copy(caller, folder, log.clone()) {
            Ok(()) => log("keeping a copy of the run's folder for the next driver"),
            Err(error) => log(&format!("cannot keep a copy of the run's folder: {error}")),
        }
    }
}

/// Reads one message, and gives the reader back. Nothing means that the line is dead, or that what
/// came is not of our language.
async fn hear(mut reader: Reader) -> (Reader, Option<ToProcess>) {
    let frame = reader.receive(MAX_FRAME).await.ok().flatten();
    let words = frame.and_then(|frame| serde_json::from_slice(&frame).ok());
    (reader, words)
}

async fn say(writer: &mut Writer, words: &ToDriver) -> bool {
    let frame = serde_json::to_vec(words).expect("messages are plain data");
    matches!(timeout(PARTING, writer.send(&frame)).await, Ok(Ok(())))
}
