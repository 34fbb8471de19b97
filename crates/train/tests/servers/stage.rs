//! A stage for processes with parameter servers: a driver that says what a test has it say, to real
//! processes that are tasks of this very runtime, on a network of pipes.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use collective::{Access, Contact, Door, Memory, Reach, Reader, Seat, Secret, Writer};
use data::{Places, Samples, View, npz};
use plan::{Facts, Role, Task};
use store::{RunDir, Runs, Store};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;
use train::message::{Formation, Hello, MAX_FRAME, ToDriver, ToProcess};
use train::{Checkpoints, Clock, Error, Join, Orders, Performed, Snapshot, Station, Surroundings};

/// How long a process waits for its driver.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How long a move of work takes.
const A_MOVE: Duration = Duration::from_millis(10);
/// Nothing that is waited for takes longer.
const BOUND: Duration = Duration::from_secs(300);
/// Samples to train on and to test on. An epoch, at whose end is saved, is longer than what happens here.
const TRAIN: usize = 3000;
const TEST: usize = 9;

/// Where a run takes place.
pub(crate) struct Stage {
    _folder: TempDir,
    pub(crate) run: RunDir,
    pub(crate) net: Memory,
    pub(crate) access: Access,
    secret: Secret,
    pub(crate) task: Task,
    driver: Option<Door>,
    /// Nobody is asked to leave.
    stop: watch::Sender<bool>,
    /// The number of the next process.
    next: u32,
}

/// A process, as the driver sees it.
pub(crate) struct Actor {
    pub(crate) process: u32,
    pub(crate) contact: Contact,
    pub(crate) served: JoinHandle<Result<Performed, Error>>,
    reader: Reader,
    writer: Writer,
}

impl Stage {
    /// A run of two ranks that train in such a way.
    pub(crate) async fn new(strategy: &str) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let samples = folder.path().join("samples.npz");
        write_samples(&samples);
        let run = Runs::new(folder.path().join("runs")).create("test").unwrap();
        let task = prepare(&samples, strategy, &run);
        let secret = Secret::random();
        let access = Access::plain(secret.clone());
        let mut stage = Stage {
            _folder: folder,
            run,
            net: Memory::new(),
            access,
            secret,
            task,
            driver: None,
            stop: watch::channel(false).0,
            next: 0,
        };
        stage.drive().await;
        stage
    }

    /// A driver comes.
    pub(crate) async fn drive(&mut self) {
        self.driver = Some(self.door().await);
    }

    /// The driver is gone. Lines to processes are theirs to drop who hold them.
    pub(crate) fn leave(&mut self) {
        self.driver = None;
    }

    /// Somebody's door.
    pub(crate) async fn door(&self) -> Door {
        let net = Arc::new(self.net.clone());
        Door::open(net, "", self.access.clone(), Arc::new(|_| {})).await.unwrap()
    }

    /// Starts a process and gives it its orders.
    pub(crate) async fn start(&mut self, serves: bool) -> Actor {
        let process = self.next;
        self.next += 1;
        let served = spawn_local(train::serve(self.station(process)));
        let wire = self.driver.as_mut().expect("a driver is there").accept();
        let (mut reader, writer) = timeout(BOUND, wire).await.unwrap().unwrap().split();
        let hello = reader.receive(MAX_FRAME).await.unwrap().unwrap();
        let ToDriver::Hello(hello) = serde_json::from_slice(&hello).unwrap() else {
            panic!("it does not say who it is")
        };
        let Hello { contact, .. } = *hello;
        let mut actor = Actor { process, contact, served, reader, writer };
        let surroundings = Surroundings { isa: None, cache: self.run.path.clone(), offline: true };
        let (task, run) = (self.task.clone(), self.run.path.clone());
        let orders = Orders { task, run, process, serves, surroundings };
        actor.say(ToProcess::Orders(Box::new(orders))).await;
        actor
    }

    fn station(&self, process: u32) -> Station {
        let door = self.driver.as_ref().expect("a driver is there");
        let join = Join {
            run: self.run.id(),
            address: door.address().to_owned(),
            fingerprint: String::new(),
            secret: self.secret.to_hex(),
        };
        Station {
            net: Arc::new(self.net.clone()),
            encrypt: false,
            join: Arc::new(move || Ok(join.clone())),
            process: Some(process),
            place: None,
            pid: 100 + process,
            folder: train::RunFolder::Here,
            listen: String::new(),
            door: None,
            reach: Reach::Network,
            clock: Clock::simulated(A_MOVE),
            stop: self.stop.subscribe(),
            patience: PATIENCE,
            beside: Handle::current(),
            log: Arc::new(|_| {}),
            host: "here".into(),
            peak_rss_bytes: || 0,
            exit: Arc::new(|| {}),
        }
    }

    /// The newest checkpoint.
    pub(crate) fn saved(&self) -> Option<Snapshot> {
        let store = Store::local(self.run.checkpoints().join(&self.task.id)).unwrap();
        Checkpoints::new(store, "nobody".into(), 1).newest().unwrap().newest
    }
}

impl Actor {
    pub(crate) async fn say(&mut self, words: ToProcess) {
        self.writer.send(&serde_json::to_vec(&words).unwrap()).await.unwrap();
    }

    /// What it says next that is worth hearing.
    pub(crate) async fn hear<T>(&mut self, worth: impl Fn(ToDriver) -> Option<T>) -> T {
        let heard = async {
            loop {
                let frame = self.reader.receive(MAX_FRAME).await.unwrap();
                let words: ToDriver =
                    serde_json::from_slice(&frame.expect("it says more")).unwrap();
                if let Some(heard) = worth(words) {
                    return heard;
                }
            }
        };
        timeout(BOUND, heard).await.expect("it says so")
    }

    /// Announces a group: where a server is reached.
    pub(crate) async fn halt(&mut self, generation: u64) -> Option<Contact> {
        self.say(ToProcess::Halt { generation }).await;
        let held = self.hear(|words| match words {
            ToDriver::Held(held) if held.generation == generation => Some(held),
            _ => None,
        });
        held.await.keeps.map(|kept| kept.contact)
    }

    /// Has it train alone, from the newest checkpoint, with servers.
    pub(crate) async fn form(&mut self, generation: u64, servers: Vec<(u32, Contact)>) {
        let Actor { process, contact, .. } = self;
        let seat = Seat { process: *process, contact: contact.clone(), ranks: vec![0, 1] };
        let formation = Formation {
            generation,
            world: 2,
            seats: vec![seat],
            source: self.process,
            mark: None,
            share: false,
            moves: vec![],
            told: 0,
            servers,
        };
        self.say(ToProcess::Form(Box::new(formation))).await;
    }

    /// Waits until it has come to a step.
    pub(crate) async fn reach(&mut self, step: u64) {
        self.hear(|words| match words {
            ToDriver::Beat(beat) => (beat.step >= step).then_some(()),
            _ => None,
        })
        .await;
    }

    /// Hears nothing more of it; it goes on.
    pub(crate) fn hang_up(self) -> JoinHandle<Result<Performed, Error>> {
        self.served
    }

    /// Its end, when there is nobody to talk to.
    pub(crate) async fn end(self) -> Result<Performed, Error> {
        timeout(BOUND, self.hang_up()).await.expect("it ends").unwrap()
    }
}

fn write_samples(path: &Path) {
    let train = Samples::synthetic(&[2, 3], 3, TRAIN, 1);
    let test = Samples::synthetic(&[2, 3], 3, TEST, 2);
    let labels = |samples: &Samples| samples.y.iter().map(|&y| y as u8).collect::<Vec<u8>>();
    let (of_train, of_test) = (labels(&train), labels(&test));
    let arrays: [(&str, &[usize], View<'_>); 4] = [
        ("x_train", &[TRAIN, 2, 3], train.rows(0..TRAIN)),
        ("y_train", &[TRAIN], View::U8(&of_train)),
        ("x_test", &[TEST, 2, 3], test.rows(0..TEST)),
        ("y_test", &[TEST], View::U8(&of_test)),
    ];
    npz::write(File::create(path).unwrap(), &arrays).unwrap();
}

/// Makes the data ready: the task that trains on it.
fn prepare(samples: &Path, strategy: &str, run: &RunDir) -> Task {
    let file = format!(
        "name: test\n\
         data: {}\n\
         model: {{ layers: [Flatten, {{ Dense: {{ units: 3, activation: softmax }} }}] }}\n\
         train: {{ workers: 2, strategy: {strategy}, epochs: 1, batch: 3, threads: 1 }}\n",
        samples.display()
    );
    let spec = spec::parse(&file, "test.yaml", &[]).unwrap();
    let plan = plan::plan(&spec, &Facts::default()).unwrap();
    let mut trains = None;
    for task in plan.tasks {
        match &task.role {
            Role::Prepare(prepare) => {
                let places = Places { cache: run.path.clone(), offline: true };
                data::prepare(prepare, task.seed, &places, &run.data(&task.id), &mut |_| {})
                    .unwrap();
            }
            Role::Worker { .. } => trains = Some(task),
            Role::Evaluate { .. } => {}
        }
    }
    trains.expect("a run trains")
}
