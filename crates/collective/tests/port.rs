//! How groups come to be, and what happens when they do not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::{Arc, Mutex};

use collective::{
    Access, Broken, Group, Layout, Memory, Net, Part, Port, Reach, Seat, Secret, knock,
};
use tokio::sync::watch;

/// Ports of one run in one runtime.
struct Run {
    net: Arc<dyn Net>,
    access: Access,
    ports: Vec<Port>,
}

impl Run {
    async fn open(ports: usize) -> Run {
        let net: Arc<dyn Net> = Arc::new(Memory::new());
        let mut run = Run { net, access: Access::plain(Secret::random()), ports: vec![] };
        for _ in 0..ports {
            run.ports.push(run.port().await);
        }
        run
    }

    async fn port(&self) -> Port {
        let (net, access) = (Arc::clone(&self.net), self.access.clone());
        Port::open(net, "", access, Reach::Network, Arc::new(|_: &str| ())).await.unwrap()
    }

    /// One rank on each port.
    fn layout(&self, generation: u64, me: usize) -> Layout {
        let seat = |(number, port): (usize, &Port)| Seat {
            process: number as u32,
            contact: port.contact(),
            ranks: vec![number],
        };
        let seats: Vec<Seat> = self.ports.iter().enumerate().map(seat).collect();
        Layout { generation, world: seats.len(), seats, me, len: 100_000 }
    }

    async fn form(&self, generation: u64, me: usize) -> Result<Group, Broken> {
        let fence = watch::channel(generation).1;
        self.ports[me].form(self.layout(generation, me), fence).await
    }
}

async fn barrier(group: Result<Group, Broken>) -> Result<(), Broken> {
    group?.barrier().await
}

#[tokio::test(start_paused = true)]
async fn those_who_do_not_come_are_waited_for_ten_seconds() {
    let run = Run::open(3).await;
    let started = tokio::time::Instant::now();
    // Seat 2 never comes, and nobody needs to go to it.
    let (first, second) = tokio::join!(run.form(1, 0), run.form(1, 1));
    let expected = Broken::Lost { process: 2, problem: "it did not come within 10 seconds".into() };
    assert_eq!(first.err(), Some(expected.clone()));
    assert_eq!(second.err(), Some(expected));
    assert_eq!(started.elapsed().as_secs(), 10);
}

#[tokio::test]
async fn a_port_that_is_closed_is_lost_at_once() {
    let mut run = Run::open(2).await;
    let layout = run.layout(1, 1);
    drop(run.ports.remove(0));
    tokio::task::yield_now().await;
    let broken = run.ports[0].form(layout, watch::channel(1).1).await.err().unwrap();
    assert!(matches!(broken, Broken::Lost { process: 0, .. }), "{broken}");
}

#[tokio::test]
async fn who_comes_early_is_kept() {
    let run = Run::open(2).await;
    // Seat 1 is done forming before seat 0 has heard of the generation.
    let early = run.form(7, 1).await;
    let (first, second) = tokio::join!(barrier(run.form(7, 0).await), barrier(early));
    assert_eq!((first, second), (Ok(()), Ok(())));
}

#[tokio::test(start_paused = true)]
async fn who_comes_late_is_sent_away() {
    let run = Run::open(2).await;
    let mut late = run.form(1, 1).await.unwrap();
    let (_first, _second) = tokio::join!(run.form(2, 0), run.form(2, 1));
    // The connection of the old generation is gone: nobody waits there for ever.
    let broken = late.barrier().await.err().unwrap();
    assert!(matches!(broken, Broken::Lost { process: 0, .. }), "{broken}");
    let mut later = run.form(1, 1).await.unwrap();
    let broken = later.barrier().await.err().unwrap();
    assert!(matches!(broken, Broken::Lost { process: 0, .. }), "{broken}");
}

#[tokio::test]
async fn another_layout_of_the_same_generation_is_refused() {
    let run = Run::open(2).await;
    let other = Layout { len: 99, ..run.layout(1, 1) };
    let other = run.ports[1].form(other, watch::channel(1).1);
    let (first, _second) = tokio::join!(run.form(1, 0), other);
    let problem = "it was given another layout of the same generation".to_owned();
    assert_eq!(first.err(), Some(Broken::Refused { process: 1, problem }));
}

#[tokio::test]
async fn a_layout_that_makes_no_sense_is_not_formed() {
    let run = Run::open(1).await;
    let layout = Layout { world: 2, ..run.layout(1, 0) };
    let broken = run.ports[0].form(layout, watch::channel(1).1).await.err().unwrap();
    assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
}

#[tokio::test]
async fn forming_ends_when_it_is_superseded() {
    let run = Run::open(2).await;
    let (newest, fence) = watch::channel(1);
    let forming = run.ports[0].form(run.layout(1, 0), fence);
    let announcing = async {
        tokio::task::yield_now().await;
        newest.send_replace(2);
    };
    let (outcome, ()) = tokio::join!(forming, announcing);
    assert_eq!(outcome.err(), Some(Broken::Superseded));
}

#[tokio::test]
async fn an_operation_that_is_given_up_ends_the_group() {
    let run = Run::open(2).await;
    let (first, _second) = tokio::join!(run.form(1, 0), run.form(1, 1));
    let mut first = first.unwrap();
    tokio::select! {
        biased;
        _ = first.barrier() => panic!("the other one did not take part"),
        () = tokio::task::yield_now() => (),
    }
    let broken = first.barrier().await.err().unwrap();
    assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
}

#[tokio::test(start_paused = true)]
async fn peers_that_introduce_themselves_badly_block_nobody() {
    let run = Run::open(2).await;
    let contact = run.ports[0].contact();
    // They know the secret, and then say something else, or nothing.
    let knock = || knock(&*run.net, &contact.address, &contact.fingerprint, &run.access);
    let (silent, talker) = (knock().await.unwrap(), knock().await.unwrap());
    let (_reader, mut writer) = talker.split();
    writer.send(&[0xff; 300]).await.unwrap();
    let (first, second) = tokio::join!(run.form(1, 0), run.form(1, 1));
    let (first, second) = tokio::join!(barrier(first), barrier(second));
    assert_eq!((first, second), (Ok(()), Ok(())));
    drop(silent);
}

#[tokio::test]
async fn a_seat_sends_what_the_formula_says() {
    for seats in [2, 3, 5] {
        let run = Run::open(seats).await;
        let groups = (0..seats).map(|me| run.form(1, me));
        let groups = futures::future::try_join_all(groups).await.unwrap();
        let values = vec![1.0; 100_000];
        let reduce = |mut group: Group| {
            let parts = [Part { values: &values, note: [0; 64] }];
            async move {
                let sum = group.all_reduce(&parts).await.unwrap();
                assert_eq!(sum.values, vec![seats as f32; 100_000]);
                group.bytes_sent()
            }
        };
        let formula = 2.0 * (seats - 1) as f64 / seats as f64 * 400_000.0;
        for sent in futures::future::join_all(groups.into_iter().map(reduce)).await {
            let ratio = sent as f64 / formula;
            assert!((0.98..1.02).contains(&ratio), "{seats} seats: {ratio}");
        }
    }
}

/// What a process does that comes for memory.
fn socket(port: &Port) -> UnixStream {
    let host = port.contact().host.expect("memory can be shared here");
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(host.socket).unwrap()).unwrap()
}

#[tokio::test]
async fn strangers_get_no_memory() {
    let net: Arc<dyn Net> = Arc::new(Memory::new());
    let lines = Arc::new(Mutex::new(vec![]));
    let kept = Arc::clone(&lines);
    let refused = Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_owned()));
    let access = Access::plain(Secret::random());
    let port = Port::open(net, "", access, Reach::Anywhere, refused).await.unwrap();
    let strangers = tokio::task::spawn_blocking(move || {
        let mut silent = socket(&port);
        let mut garbage = socket(&port);
        garbage.write_all(b"GET / HTTP/1.1").unwrap();
        let mut rest = vec![];
        garbage.read_to_end(&mut rest).unwrap_or_default();
        assert_eq!(rest, b"");
        let mut wrong = socket(&port);
        wrong.write_all(&[&b"TYRD\0\x01"[..], &[1; 32], &[2; 32]].concat()).unwrap();
        wrong.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len(), 38, "a hello and no proof");
        silent.write_all(b"TYRD").unwrap();
    });
    strangers.await.unwrap();
    let lines = lines.lock().unwrap();
    assert!(lines.iter().any(|line| line.contains("does not speak trainyard's protocol")));
    assert!(lines.iter().any(|line| line.contains("did not prove the run's secret")));
}

/// Whoever likes may do all this in a task of its own.
#[tokio::test]
async fn groups_can_be_used_in_tasks() {
    let mut run = Run::open(2).await;
    let layouts = [run.layout(1, 0), run.layout(1, 1)];
    let mut tasks = vec![];
    for (port, layout) in run.ports.drain(..).zip(layouts) {
        tasks.push(tokio::spawn(async move {
            let mut group = port.form(layout, watch::channel(1).1).await.unwrap();
            let slot = group.slot(group.ranks()[0]);
            let parts = [Part { values: &slot, note: [1; 64] }];
            group.all_reduce(&parts).await.unwrap();
            group.broadcast(0, &mut [1.0]).await.unwrap();
            group.pass(0, 1, &mut [1.0]).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}
