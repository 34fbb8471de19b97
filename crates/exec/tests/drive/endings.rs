//! How processes end, and how a run does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exec::Ending;
use train::message::{Held, Parting, ToDriver, ToProcess};
use train::{Event, Kind, State};

use crate::stage::{Stage, count, script};

fn is_start(kind: &Kind) -> bool {
    matches!(kind, Kind::TaskStarted { .. })
}

#[tokio::test(start_paused = true)]
async fn tasks_run_one_after_the_other_and_end_in_a_report() {
    let (ending, events) = Stage::new().drive(script(|actor| actor.play_well())).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!((report.state, report.workers, report.peak_rss_bytes), (State::Done, 1, 7));
    let started = events.iter().filter(|event| is_start(&event.kind));
    let started: Vec<_> = started.map(|event| event.task.clone().unwrap()).collect();
    assert_eq!(started, ["prepare", "train", "evaluate"]);
    assert_eq!(events.last().unwrap().kind, Kind::RunDone {});
    // Ten samples in half a second of a processor's time, though it trained for a whole one.
    let speed = |kind: &Kind| matches!(kind, Kind::TaskDone { computing_speed: 20.0, .. });
    assert_eq!(count(&events, speed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_is_followed_by_others_but_not_for_ever() {
    let stage = Stage::new();
    let (ending, events) = stage.drive(script(|mut actor| async move { actor.call().await })).await;
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("`prepare`") && reason.contains("5th in a row"), "{reason}");
    assert_eq!(count(&events, is_start), 5);
    assert_eq!(count(&events, |kind| matches!(kind, Kind::ProcessLost { .. })), 5);
}

#[tokio::test(start_paused = true)]
async fn many_may_die_at_once() {
    // All six at the same moment, before anything has moved, and then once more.
    let file = "name: test\ndata: mnist-sample\nmodel: mnist-mlp\ntrain: { workers: 6 }\n";
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        match orders.process {
            1..13 => {}
            _ => actor.go_on_well(&orders).await,
        }
    };
    let (ending, _) = Stage::of(file).drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 12);
}

#[tokio::test(start_paused = true)]
async fn one_that_never_calls_is_given_up() {
    let stage = Stage::new();
    let (ending, _) = stage.drive(script(|_| std::future::pending())).await;
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("has not called"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_process_that_gets_somewhere_may_die_as_often_as_it_likes() {
    // Of those that train, eight die, each a step further than the one before.
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        match orders.process {
            process @ 1..9 => {
                actor.form(None).await;
                actor.beat(u64::from(process)).await;
            }
            _ => actor.go_on_well(&orders).await,
        }
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 8);
    let formed = |kind: &Kind| match kind {
        Kind::Formed { generation, .. } => Some(*generation),
        _ => None,
    };
    let formed: Vec<u64> = events.iter().filter_map(|event| formed(&event.kind)).collect();
    assert_eq!(formed.len(), 9);
    assert!(formed.is_sorted_by(|a, b| a < b), "{formed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_says_it_failed_is_not_tried_again() {
    let play = |mut actor: crate::actor::Actor| async move {
        actor.begin().await;
        let reason = "the disk is full".into();
        actor.farewell(Parting::Failed { reason }).await;
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("`prepare` failed: the disk is full; see"), "{reason}");
    assert_eq!(count(&events, is_start), 1);
}

#[tokio::test(start_paused = true)]
async fn asked_once_processes_leave_in_order_and_asked_twice_at_once() {
    for (times, saved) in [(1, true), (2, false)] {
        // It says a word once it works, and leaves in order only where it has the time.
        let play = move |mut actor: crate::actor::Actor| async move {
            actor.begin().await;
            let event = Box::new(Kind::Checkpoint { step: 1 });
            actor.say(ToDriver::Said { number: 1, event }).await;
            assert!(matches!(actor.wait().await, Some(ToProcess::Save { .. })));
            if saved {
                actor.farewell(Parting::Stopped).await;
            } else {
                while actor.wait().await.is_some() {}
                std::future::pending::<()>().await;
            }
        };
        let stage = Stage::new();
        let stop = stage.stop.clone();
        let show = |event: &Event| {
            if matches!(event.kind, Kind::Checkpoint { .. }) {
                stop.store(times, Ordering::SeqCst);
            }
        };
        let (ending, events) = stage.drive_and(script(play), show).await;
        assert_eq!(ending, Ending::Stopped);
        let stopped =
            |kind: &Kind| matches!(kind, Kind::TaskStopped { saved: s, .. } if *s == saved);
        assert_eq!(count(&events, stopped), 1, "{times}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_saved_is_not_told_as_saved() {
    let play = |mut actor: crate::actor::Actor| async move {
        actor.begin().await;
        actor.stage.stop.store(1, Ordering::SeqCst);
        assert!(matches!(actor.wait().await, Some(ToProcess::Save { .. })));
        actor.farewell(Parting::Failed { reason: "the disk is full".into() }).await;
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    assert_eq!(ending, Ending::Stopped);
    assert_eq!(count(&events, |kind| matches!(kind, Kind::TaskStopped { saved: false, .. })), 1);
    let told = |kind: &Kind| matches!(kind, Kind::ProcessLost { reason, .. } if reason.ends_with("the disk is full"));
    assert_eq!(count(&events, told), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_stopped_and_taken_up_again_adds_up() {
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        match orders.process {
            // The first that trains is asked to stop, in the middle of it.
            1 => {
                actor.sums = (300, 90);
                actor.form(None).await;
                actor.beat(3).await;
                actor.stage.stop.store(1, Ordering::SeqCst);
                while let Some(words) = actor.wait().await {
                    match words {
                        ToProcess::Halt { generation } => {
                            let held = Held { generation, ..Held::default() };
                            actor.say(ToDriver::Held(held)).await;
                        }
                        ToProcess::Save { .. } => break,
                        _ => {}
                    }
                }
                actor.farewell(Parting::Stopped).await;
            }
            // The first that the next driver starts: one number is passed over.
            3 => {
                actor.sums = (20, 60);
                actor.go_on_well(&orders).await;
            }
            _ => actor.go_on_well(&orders).await,
        }
    };
    let stage = Stage::new();
    assert_eq!(stage.drive(script(play)).await.0, Ending::Stopped);
    stage.stop.store(0, Ordering::SeqCst);
    let (ending, _) = stage.drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!((report.bytes_sent, report.peak_rss_bytes), (320, 90));
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_though_the_last_process_dies_meanwhile() {
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        if orders.process == 0 {
            return actor.go_on_well(&orders).await;
        }
        // It dies when it is asked what it holds for the second time.
        actor.form(None).await;
        actor.beat(3).await;
        actor.stage.stop.store(1, Ordering::SeqCst);
        assert!(matches!(actor.wait().await, Some(ToProcess::Halt { .. })));
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    assert_eq!(ending, Ending::Stopped);
    let killed = |kind: &Kind| matches!(kind, Kind::TaskStopped { saved: false, .. });
    assert_eq!(count(&events, killed), 1);
}

#[tokio::test(start_paused = true)]
async fn last_words_are_heard_before_the_end_is_acted_upon() {
    // Its end is told at once; its words are many, and one is taken at a time.
    static SAID: AtomicUsize = AtomicUsize::new(0);
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        if orders.process > 0 {
            return actor.go_on_well(&orders).await;
        }
        for number in 1..500 {
            let event = Box::new(Kind::Checkpoint { step: number });
            actor.say(ToDriver::Said { number, event }).await;
            SAID.fetch_add(1, Ordering::SeqCst);
        }
        actor.farewell(Parting::Done).await;
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
    let heard = count(&events, |kind| matches!(kind, Kind::Checkpoint { .. }));
    assert_eq!(heard, SAID.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn one_that_hangs_is_given_up_and_another_follows() {
    let play = |mut actor: crate::actor::Actor| async move {
        let orders = actor.begin().await;
        match orders.process {
            1 => {
                actor.form(None).await;
                tokio::time::sleep(Duration::from_secs(3600)).await;
            }
            _ => actor.go_on_well(&orders).await,
        }
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 1);
    let silent = |kind: &Kind| match kind {
        Kind::ProcessLost { process, reason } => *process == 1 && reason.contains("not been heard"),
        _ => false,
    };
    assert_eq!(count(&events, silent), 1);
}
