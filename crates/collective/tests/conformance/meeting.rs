//! Threads that play processes: each has a runtime, a port and a group of its own.

use std::ops::AsyncFn;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use collective::testing::{Pace, Throttled};
use collective::{
    Access, Broken, Contact, Group, Layout, Memory, Net, Port, Reach, Seat, Secret, Sockets,
};
use tokio::sync::{oneshot, watch};

/// Nothing here takes seconds; a test that hangs ends all the same.
const PATIENCE: Duration = Duration::from_secs(300);

/// A network that is slow beside memory, and not so slow that tests take long.
const SLOW: Pace = Pace { bytes_per_second: 50_000_000, latency: Duration::from_micros(300) };

/// What lies between the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Tcp,
    Tls,
    Shm,
    Throttled,
}

/// What all processes of a place have in common.
#[derive(Clone)]
struct Setting {
    net: Arc<dyn Net>,
    secret: Secret,
    place: Place,
}

/// A process in the group of generation 1.
pub(crate) struct Member {
    pub(crate) group: Group,
    pub(crate) port: Port,
    /// Announces generations to this process.
    pub(crate) fence: watch::Sender<u64>,
    pub(crate) layout: Layout,
}

impl Place {
    fn setting(self) -> Setting {
        let net: Arc<dyn Net> = match self {
            Place::Memory | Place::Shm => Arc::new(Memory::new()),
            Place::Tcp | Place::Tls => Arc::new(Sockets),
            Place::Throttled => Arc::new(Throttled::new(Memory::new(), SLOW)),
        };
        Setting { net, secret: Secret::random(), place: self }
    }

    /// What a group says of itself.
    pub(crate) fn link(self) -> &'static str {
        match self {
            Place::Memory | Place::Tcp | Place::Tls | Place::Throttled => "tcp",
            Place::Shm => "shm",
        }
    }
}

impl Setting {
    async fn open(&self) -> Port {
        let access = match self.place {
            Place::Tls => Access::secure(self.secret.clone()),
            Place::Memory | Place::Tcp | Place::Shm | Place::Throttled => {
                Access::plain(self.secret.clone())
            }
        };
        let reach = match self.place {
            Place::Memory | Place::Tcp | Place::Tls | Place::Throttled => Reach::Network,
            Place::Shm => Reach::Anywhere,
        };
        let refused = Arc::new(|line: &str| panic!("nobody is refused here: {line}"));
        Port::open(Arc::clone(&self.net), "127.0.0.1:0", access, reach, refused).await.unwrap()
    }
}

impl Member {
    /// Forms the group of a later generation with the same ports.
    pub(crate) async fn form(
        &self,
        generation: u64,
        hosting: &[Vec<usize>],
    ) -> Result<Group, Broken> {
        let mut layout = Layout { generation, ..self.layout.clone() };
        for (seat, ranks) in layout.seats.iter_mut().zip(hosting) {
            seat.ranks.clone_from(ranks);
        }
        self.fence.send_replace(generation);
        self.port.form(layout, self.fence.subscribe()).await
    }
}

/// Lets one thread for each seat form a group and act. `hosting` has the ranks of each seat. Returns
/// what came out, by seat.
pub(crate) fn meet<T: Send>(
    place: Place,
    hosting: &[Vec<usize>],
    len: usize,
    act: impl AsyncFn(Member) -> T + Sync,
) -> Vec<T> {
    let setting = &place.setting();
    let (contacts, came) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut tell = vec![];
        let mut threads = vec![];
        for seat in 0..hosting.len() {
            let (teller, told) = oneshot::channel();
            tell.push(teller);
            let (contacts, act) = (contacts.clone(), &act);
            threads.push(scope.spawn(move || {
                run(async move {
                    let port = setting.open().await;
                    contacts.send((seat, port.contact())).unwrap();
                    let layout: Layout = told.await.unwrap();
                    let (fence, seen) = watch::channel(layout.generation);
                    let group = port.form(layout.clone(), seen).await.unwrap();
                    act(Member { group, port, fence, layout }).await
                })
            }));
        }
        let mut contacts: Vec<(usize, Contact)> = came.iter().take(hosting.len()).collect();
        contacts.sort_by_key(|(seat, _)| *seat);
        let seats = seats(contacts, hosting);
        let world = hosting.iter().map(Vec::len).sum();
        for (me, tell) in tell.into_iter().enumerate() {
            tell.send(Layout { generation: 1, world, seats: seats.clone(), me, len }).unwrap();
        }
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Process numbers differ from seats, so that none is taken for the other.
fn seats(contacts: Vec<(usize, Contact)>, hosting: &[Vec<usize>]) -> Vec<Seat> {
    let seat = |((process, contact), ranks): ((u32, (usize, Contact)), &Vec<usize>)| Seat {
        process,
        contact: contact.1,
        ranks: ranks.clone(),
    };
    (10..).zip(contacts).zip(hosting).map(seat).collect()
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(PATIENCE, work).await.expect("it hangs") })
}
