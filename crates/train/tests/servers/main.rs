//! What a process that trains with parameter servers does when they, or the driver, are not as they
//! should be.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod stage;

use std::time::Duration;

use collective::{Contact, Net};
use stage::{Actor, PATIENCE, Stage};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};
use train::message::{Parting, ToDriver, ToProcess};
use train::{Error, Kind, Performed};

const SYNC: &str = "{ parameter_server: { servers: 2, mode: sync, accuracy_every: 0 } }";
const ASYNC: &str = "{ parameter_server: { servers: 2, mode: async, accuracy_every: 0 } }";

/// Plays a test where time passes as fast as nobody works.
fn play(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

/// A worker that trains, and the two servers.
async fn troupe(stage: &mut Stage) -> (Actor, Vec<Actor>) {
    let mut worker = stage.start(false).await;
    let mut servers = vec![stage.start(true).await, stage.start(true).await];
    worker.halt(1).await;
    let mut contacts = vec![];
    for server in &mut servers {
        contacts.push((server.process, server.halt(1).await.expect("servers say where they are")));
    }
    worker.form(1, contacts).await;
    (worker, servers)
}

fn nowhere(address: &str) -> Contact {
    Contact { address: address.into(), fingerprint: String::new(), host: None }
}

#[test]
fn a_worker_that_waits_for_a_server_says_so() {
    play(async {
        let mut stage = Stage::new(SYNC).await;
        let mut worker = stage.start(false).await;
        worker.halt(1).await;
        let mut silent = stage.door().await;
        let address = silent.address().to_owned();
        worker.form(1, vec![(1, nowhere(&address)), (2, nowhere(&address))]).await;
        let _lines = (silent.accept().await.unwrap(), silent.accept().await.unwrap());
        sleep(Duration::from_secs(1)).await;
        let beats = worker.hear(|words| match words {
            ToDriver::Beat(beat) => beat.waits.then_some(()),
            ToDriver::Farewell(_) => panic!("it leaves"),
            _ => None,
        });
        tokio::time::timeout(Duration::from_secs(20), beats).await.expect("it says that it waits");
    });
}

#[test]
fn a_worker_that_calls_a_server_hears_a_halt() {
    play(async {
        let mut stage = Stage::new(SYNC).await;
        let mut worker = stage.start(false).await;
        worker.halt(1).await;
        // It is there, and does not open.
        let shut = stage.net.listen("").await.unwrap();
        worker.form(1, vec![(1, nowhere(shut.address())), (2, nowhere(shut.address()))]).await;
        sleep(Duration::from_secs(1)).await;
        let asked = Instant::now();
        worker.halt(2).await;
        assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    });
}

#[test]
fn what_servers_hold_is_saved_where_no_driver_comes_back() {
    for mode in [SYNC, ASYNC] {
        play(async {
            let mut stage = Stage::new(mode).await;
            let (mut worker, servers) = troupe(&mut stage).await;
            worker.reach(5).await;
            stage.leave();
            // Not all notice it at once.
            let mut ends = vec![worker];
            ends.extend(servers);
            for actor in ends {
                sleep(Duration::from_millis(100)).await;
                assert_eq!(actor.end().await.unwrap(), Performed::Stopped);
            }
            let saved = stage.saved().expect("it was saved");
            assert!(saved.position.step >= 5, "{mode}: {}", saved.position.step);
        });
    }
}

/// The weights that training ends with, and the step it went on from.
async fn to_the_end(stage: &mut Stage) -> (String, Option<u64>) {
    let (mut worker, _servers) = troupe(stage).await;
    let mut resumed = None;
    loop {
        let event = worker.hear(|words| match words {
            ToDriver::Said { event, .. } => Some(*event),
            _ => None,
        });
        match event.await {
            Kind::Resumed { step, .. } => resumed = Some(step),
            Kind::Published(published) => return (published.weights_sha256, resumed),
            _ => {}
        }
    }
}

#[test]
fn what_was_saved_without_a_driver_goes_on_to_the_same_bits() {
    play(async {
        let (undisturbed, none) = to_the_end(&mut Stage::new(SYNC).await).await;
        assert_eq!(none, None);
        let mut stage = Stage::new(SYNC).await;
        let (mut worker, servers) = troupe(&mut stage).await;
        worker.reach(5).await;
        stage.leave();
        // The servers notice it first, and stay.
        let servers: Vec<_> = servers.into_iter().map(Actor::hang_up).collect();
        sleep(2 * PATIENCE).await;
        assert_eq!(worker.end().await.unwrap(), Performed::Stopped);
        for served in servers {
            assert_eq!(served.await.unwrap().unwrap(), Performed::Stopped);
        }
        stage.drive().await;
        let (weights, resumed) = to_the_end(&mut stage).await;
        assert!(resumed >= Some(5), "{resumed:?}");
        assert_eq!(weights, undisturbed);
    });
}

#[test]
fn what_is_not_saved_is_not_said_to_be() {
    play(async {
        let mut stage = Stage::new(SYNC).await;
        let (mut worker, _servers) = troupe(&mut stage).await;
        worker.reach(5).await;
        worker.halt(2).await;
        let servers = vec![(1, nowhere("nobody")), (2, nowhere("nobody"))];
        worker.say(ToProcess::Save { whole: true, servers }).await;
        let farewell = worker.hear(|words| match words {
            ToDriver::Farewell(farewell) => Some(farewell),
            _ => None,
        });
        let Parting::Failed { reason } = farewell.await.ending else { panic!("nothing was saved") };
        assert!(reason.starts_with("what the servers hold is not saved"), "{reason}");
        assert_eq!(stage.saved().map(|saved| saved.position.step), Some(0));
    });
}

/// A run that is stopped before its first step has nothing that could be lost.
#[test]
fn what_has_not_begun_needs_no_saving() {
    play(async {
        let mut stage = Stage::new(SYNC).await;
        let mut worker = stage.start(false).await;
        worker.halt(1).await;
        let shut = stage.net.listen("").await.unwrap();
        let servers = vec![(1, nowhere(shut.address())), (2, nowhere(shut.address()))];
        worker.form(1, servers.clone()).await;
        sleep(Duration::from_secs(1)).await;
        worker.halt(2).await;
        worker.say(ToProcess::Save { whole: true, servers }).await;
        let farewell = worker.hear(|words| match words {
            ToDriver::Farewell(farewell) => Some(farewell),
            _ => None,
        });
        assert_eq!(farewell.await.ending, Parting::Stopped);
    });
}

#[test]
fn without_servers_and_driver_nothing_is_said_to_be_saved() {
    play(async {
        let mut stage = Stage::new(SYNC).await;
        let (mut worker, servers) = troupe(&mut stage).await;
        worker.reach(5).await;
        for server in servers {
            server.served.abort();
        }
        stage.leave();
        let ended = worker.end().await;
        assert!(matches!(ended, Err(Error::Unsaved { .. })), "{ended:?}");
    });
}
