//! A process that says to its driver what a test has it say.

use std::time::Duration;

use collective::{Access, Contact, Reader, Secret, Writer, knock};
use plan::Role;
use tokio::time::interval;
use train::message::{
    Beat, Farewell, Formation, Held, Hello, MAX_FRAME, Mark, Parting, ToDriver, ToProcess,
};
use train::{Join, Orders};

use crate::stage::Stage;

/// A process of the run, or one that claims to be.
pub(crate) struct Actor {
    pub(crate) stage: Stage,
    /// The number it was given or claims.
    pub(crate) process: Option<u32>,
    pub(crate) pid: u32,
    /// The task it works on already.
    pub(crate) task: Option<String>,
    /// The newest group it has heard of.
    pub(crate) generation: u64,
    /// What it will say that it sent, and the most memory that it held.
    pub(crate) sums: (u64, u64),
    line: Option<(Reader, Writer)>,
}

impl Actor {
    pub(crate) fn new(stage: Stage, process: Option<u32>, pid: u32) -> Self {
        Actor { stage, process, pid, task: None, generation: 0, sums: (0, 7), line: None }
    }

    /// Calls the driver and says who it is.
    pub(crate) async fn call(&mut self) {
        let join = Join::read(&self.stage.run.join()).unwrap();
        let access = Access::plain(Secret::from_hex(&join.secret).unwrap());
        let wire = knock(&self.stage.net, &join.address, &join.fingerprint, &access).await;
        self.line = Some(wire.unwrap().split());
        let contact = Contact {
            address: format!("nowhere:{}", self.pid),
            fingerprint: String::new(),
            host: None,
        };
        let hello = Hello {
            process: self.process,
            place: None,
            pid: self.pid,
            host: "here".into(),
            contact,
            task: self.task.clone(),
            serves: false,
            generation: self.generation,
        };
        self.say(ToDriver::Hello(Box::new(hello))).await;
    }

    /// Calls the driver and is told what to do.
    pub(crate) async fn begin(&mut self) -> Orders {
        self.call().await;
        loop {
            if let ToProcess::Orders(orders) = self.hear().await.expect("orders come first") {
                self.process = Some(orders.process);
                self.task = Some(orders.task.id.clone());
                return *orders;
            }
        }
    }

    pub(crate) async fn say(&mut self, words: ToDriver) {
        self.send(&serde_json::to_vec(&words).unwrap()).await;
    }

    /// Sends what may be no message at all. A driver that is gone hears nothing.
    pub(crate) async fn send(&mut self, frame: &[u8]) {
        let (_, writer) = self.line.as_mut().expect("it has called");
        let _ = writer.send(frame).await;
    }

    /// What the driver says next; nothing when it has hung up.
    pub(crate) async fn hear(&mut self) -> Option<ToProcess> {
        let (reader, _) = self.line.as_mut().expect("it has called");
        let frame = reader.receive(MAX_FRAME).await.ok()??;
        let words = serde_json::from_slice(&frame).unwrap();
        if let ToProcess::Halt { generation } = words {
            self.generation = generation;
        }
        Some(words)
    }

    /// Hangs up.
    pub(crate) fn hang_up(&mut self) {
        self.line = None;
    }

    /// Answers until a group is to be formed: it holds this.
    pub(crate) async fn form(&mut self, mark: Option<Mark>) -> Box<Formation> {
        loop {
            match self.hear().await {
                Some(ToProcess::Halt { generation }) => {
                    self.say(ToDriver::Held(Held { generation, mark, ..Held::default() })).await;
                }
                Some(ToProcess::Form(formation)) => return formation,
                Some(_) => {}
                None => panic!("the driver hung up"),
            }
        }
    }

    /// Gives signs of life, until the driver says something that counts.
    pub(crate) async fn wait(&mut self) -> Option<ToProcess> {
        let mut beats = interval(Duration::from_millis(200));
        loop {
            tokio::select! {
                biased;
                words = self.hear() => match words {
                    Some(ToProcess::Heard { .. } | ToProcess::KeepCopy) => {}
                    words => return words,
                },
                _ = beats.tick() => self.beat(0).await,
            }
        }
    }

    pub(crate) async fn beat(&mut self, step: u64) {
        self.say(ToDriver::Beat(Beat { moves: step, step, ..Beat::default() })).await;
    }

    pub(crate) async fn farewell(&mut self, ending: Parting) {
        let (seconds, waited_seconds) = (1.0, 0.0);
        let (bytes_sent, peak_rss_bytes) = self.sums;
        let farewell = Farewell {
            ending,
            seconds,
            peak_rss_bytes,
            bytes_sent,
            waited_seconds,
            computed_seconds: 0.5,
            samples: 10,
            link: String::new(),
        };
        self.say(ToDriver::Farewell(farewell)).await;
    }

    /// Does everything as it should be done, from the first word to the last.
    pub(crate) async fn play_well(mut self) {
        let orders = self.begin().await;
        self.go_on_well(&orders).await;
    }

    /// The same from when it has its orders.
    pub(crate) async fn go_on_well(mut self, orders: &Orders) {
        if matches!(orders.task.role, Role::Worker { .. }) {
            let Formation { generation, .. } = *self.form(None).await;
            self.say(ToDriver::Finished { generation }).await;
            while !matches!(self.wait().await, Some(ToProcess::Leave) | None) {}
        }
        self.farewell(Parting::Done).await;
    }
}
