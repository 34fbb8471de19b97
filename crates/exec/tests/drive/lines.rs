//! What is said on the lines, and by whom.

use std::time::Duration;

use exec::Ending;
use train::message::{Mark, ToDriver, ToProcess};
use train::{Event, Kind};

use crate::actor::Actor;
use crate::stage::{Stage, count, script};

/// The run is done, nobody was lost, and no task took a second process.
fn assert_undisturbed((ending, events): (Ending, Vec<Event>)) {
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 0);
    assert_eq!(count(&events, |kind| matches!(kind, Kind::TaskStarted { .. })), 3);
}

#[tokio::test(start_paused = true)]
async fn nonsense_costs_the_line_and_nothing_else() {
    // A process that says what nobody understands is cut off; when it calls again, it goes on.
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        actor.send(b"hello there").await;
        while actor.hear().await.is_some() {}
        actor.call().await;
        actor.go_on_well(&orders).await;
    };
    assert_undisturbed(Stage::new().drive(script(play)).await);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_does_not_say_who_it_is_keeps_nobody_waiting() {
    let play = |mut actor: Actor| async move {
        let mut mute = actor.stage.stranger(None);
        mute.call().await;
        mute.send(b"{").await;
        let orders = actor.begin().await;
        actor.go_on_well(&orders).await;
    };
    let (ending, _) = Stage::new().drive(script(play)).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn of_two_with_one_number_the_first_stays() {
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        let mut double = actor.stage.stranger(actor.process);
        double.call().await;
        assert_eq!(double.hear().await, Some(ToProcess::Leave));
        actor.go_on_well(&orders).await;
    };
    assert_undisturbed(Stage::new().drive(script(play)).await);
}

#[tokio::test(start_paused = true)]
async fn one_with_a_number_that_nobody_gave_is_sent_away() {
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        let mut unknown = actor.stage.stranger(Some(77));
        unknown.call().await;
        assert_eq!(unknown.hear().await, Some(ToProcess::Leave));
        actor.go_on_well(&orders).await;
    };
    let (ending, _) = Stage::new().drive(script(play)).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_said_again_is_written_once() {
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        let words = |number| {
            let event = Box::new(Kind::Checkpoint { step: number });
            ToDriver::Said { number, event }
        };
        actor.say(words(1)).await;
        actor.say(words(2)).await;
        actor.beat(0).await;
        while actor.hear().await != Some(ToProcess::Heard { number: 2 }) {}
        // The answer got lost with the line: all is said again, and one thing more.
        actor.hang_up();
        actor.call().await;
        for number in 1..=3 {
            actor.say(words(number)).await;
        }
        actor.go_on_well(&orders).await;
    };
    let (ending, events) = Stage::new().drive(script(play)).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
    let steps = |kind: &Kind| match kind {
        Kind::Checkpoint { step } => Some(*step),
        _ => None,
    };
    let steps: Vec<u64> = events.iter().filter_map(|event| steps(&event.kind)).collect();
    assert_eq!(steps, [1, 2, 3].repeat(3));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_came_by_itself_is_used() {
    // One that a driver started, and one that comes while the data is prepared and waits long.
    let file = "name: test\ndata: mnist-sample\nmodel: mnist-mlp\ntrain: { workers: 2 }\n";
    let stage = Stage::of(file);
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        if orders.task.id == "prepare" {
            let volunteer = actor.stage.stranger(None);
            tokio::spawn(volunteer.play_well());
            for _ in 0..300 {
                actor.beat(0).await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        actor.go_on_well(&orders).await;
    };
    let (ending, events) = stage.drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 0);
    let started = |kind: &Kind| matches!(kind, Kind::TaskStarted { ticks: None, .. });
    assert_eq!(count(&events, started), 1);
    let together =
        |kind: &Kind| matches!(kind, Kind::Formed { processes, .. } if processes.len() == 2);
    assert_eq!(count(&events, together), 1);
}

#[tokio::test(start_paused = true)]
async fn a_volunteer_that_left_before_it_was_needed_is_forgotten() {
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        if orders.task.id == "prepare" {
            for _ in 0..6 {
                let mut volunteer = actor.stage.stranger(None);
                volunteer.call().await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        actor.go_on_well(&orders).await;
    };
    let (ending, _) = Stage::new().drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 0);
}

#[tokio::test(start_paused = true)]
async fn a_volunteer_cut_off_at_the_end_is_told_to_leave_when_it_calls_again() {
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        if orders.task.id != "train" {
            return actor.go_on_well(&orders).await;
        }
        let generation = actor.form(None).await.generation;
        let mut volunteer = actor.stage.stranger(None);
        volunteer.begin().await;
        volunteer.hang_up();
        actor.say(ToDriver::Finished { generation }).await;
        while !matches!(actor.wait().await, Some(ToProcess::Leave)) {}
        volunteer.call().await;
        assert_eq!(volunteer.wait().await, Some(ToProcess::Leave));
        // And one that says no word more keeps nobody waiting either.
    };
    let (ending, _) = Stage::new().drive(script(play)).await;
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_cut_breaks_the_group_and_the_newest_state_goes_on() {
    let file = "name: test\ndata: mnist-sample\nmodel: mnist-mlp\ntrain: { workers: 2 }\n";
    let play = |mut actor: Actor| async move {
        let orders = actor.begin().await;
        if orders.task.id != "train" {
            return actor.go_on_well(&orders).await;
        }
        let behind = Mark { step: 4, epoch_step: 0 };
        let ahead = Mark { step: 5, epoch_step: 0 };
        actor.form(None).await;
        if orders.process == 1 {
            actor.beat(5).await;
            actor.hang_up();
            actor.call().await;
        }
        let mark = if orders.process == 1 { ahead } else { behind };
        let formation = actor.form(Some(mark)).await;
        assert_eq!((formation.source, formation.mark, formation.share), (1, Some(ahead), true));
        actor.say(ToDriver::Finished { generation: formation.generation }).await;
        while !matches!(actor.wait().await, Some(ToProcess::Leave) | None) {}
    };
    let (ending, _) = Stage::of(file).drive(script(play)).await;
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!(report.faults_survived, 0);
}
