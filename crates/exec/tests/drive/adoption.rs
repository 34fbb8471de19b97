//! A driver that dies, and the one after it.

use std::time::Duration;

use exec::Ending;
use train::Kind;
use train::message::{Mark, ToDriver, ToProcess};

use crate::actor::Actor;
use crate::stage::{Script, Stage, count, script};

const TWO: &str = "name: test\ndata: mnist-sample\nmodel: mnist-mlp\ntrain: { workers: 2 }\n";

/// A driver that is killed after a while.
async fn drive_and_die(stage: &Stage, script: Script, after: Duration) {
    let driving = stage.drive(script);
    assert!(tokio::time::timeout(after, driving).await.is_err(), "it ended before it was killed");
}

/// Trains until its driver is gone, calls the next one, and is done there.
async fn outlive(mut actor: Actor) {
    let orders = actor.begin().await;
    if orders.task.id != "train" {
        return actor.go_on_well(&orders).await;
    }
    let first = actor.form(None).await;
    while actor.wait().await.is_some() {}
    // Until the next driver has told where it is.
    tokio::time::sleep(Duration::from_millis(900)).await;
    actor.call().await;
    let second = actor.form(Some(Mark { step: 9, epoch_step: 0 })).await;
    assert!(second.generation > first.generation);
    assert_eq!(second.mark, Some(Mark { step: 9, epoch_step: 0 }));
    actor.say(ToDriver::Finished { generation: second.generation }).await;
    while !matches!(actor.wait().await, Some(ToProcess::Leave) | None) {}
}

#[tokio::test(start_paused = true)]
async fn the_next_driver_takes_over_what_lives() {
    let stage = Stage::of(TWO);
    drive_and_die(&stage, script(outlive), Duration::from_secs(1)).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    let (ending, events) = stage.drive(script(outlive)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 0);
    let adopted = |kind: &Kind| matches!(kind, Kind::TaskStarted { adopted: true, .. });
    assert_eq!(count(&events, adopted), 2);
    let started = |kind: &Kind| matches!(kind, Kind::TaskStarted { adopted: false, .. });
    assert_eq!(count(&events, started), 4);
}

#[tokio::test(start_paused = true)]
async fn the_next_driver_replaces_what_died() {
    let stage = Stage::of(TWO);
    let dies = script(|mut actor| async move {
        let orders = actor.begin().await;
        if orders.task.id != "train" {
            return actor.go_on_well(&orders).await;
        }
        while actor.wait().await.is_some() {}
    });
    drive_and_die(&stage, dies, Duration::from_secs(1)).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (ending, events) = stage.drive(script(|actor| actor.play_well())).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
    assert_eq!(count(&events, |kind| matches!(kind, Kind::RunStarted { resumed: true, .. })), 1);
    let numbers = |kind: &Kind| match kind {
        Kind::TaskStarted { process, .. } => Some(*process),
        _ => None,
    };
    let mut numbers: Vec<u32> = events.iter().filter_map(|event| numbers(&event.kind)).collect();
    numbers.sort_unstable();
    // 3 is left to one that the dead driver may have started without a word.
    assert_eq!(numbers, [0, 1, 2, 4, 5, 6], "no number is given twice");
}

#[tokio::test(start_paused = true)]
async fn generations_go_on_from_what_any_process_has_heard() {
    // The first driver announced far more than it wrote down.
    let stage = Stage::of(TWO);
    let far = script(|mut actor| async move {
        let orders = actor.begin().await;
        if orders.task.id != "train" {
            return actor.go_on_well(&orders).await;
        }
        actor.form(None).await;
        while actor.wait().await.is_some() {}
        tokio::time::sleep(Duration::from_millis(900)).await;
        if orders.process == 1 {
            actor.generation = 40;
        }
        actor.call().await;
        let mark = Mark { step: u64::from(orders.process), epoch_step: 0 };
        let mut formation = actor.form(Some(mark)).await;
        while formation.generation <= 40 || formation.seats.len() < 2 {
            formation = actor.form(Some(mark)).await;
        }
        assert_eq!(formation.mark, Some(Mark { step: 2, epoch_step: 0 }));
        actor.say(ToDriver::Finished { generation: formation.generation }).await;
        while !matches!(actor.wait().await, Some(ToProcess::Leave) | None) {}
    });
    drive_and_die(&stage, far.clone(), Duration::from_secs(1)).await;
    tokio::time::sleep(Duration::from_millis(800)).await;
    let (ending, _) = stage.drive(far).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}
