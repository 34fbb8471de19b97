//! The driver with small shell scripts as tasks: what it makes of processes that end well, die,
//! talk nonsense, or do not want to leave.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};

use exec::{Driver, Ending, Launcher, Limits};
use plan::{Facts, Plan};
use store::Runs;
use train::{Clock, Event, Kind, State, Surroundings, read_events};

const DONE: &str = r#"echo '{"event":"task_done","seconds":1,"peak_rss_bytes":7}'"#;

fn plan() -> Plan {
    let file = "name: test\ndata: mnist-sample\nmodel: mnist-mlp\n";
    plan::plan(&spec::parse(file, "test.yaml", &[]).unwrap(), &Facts::default()).unwrap()
}

/// Drives a run whose every task is `script`, which finds its orders in `$orders`.
fn drive(script: &str, stop: &AtomicUsize, show: &mut dyn FnMut(&Event)) -> (Ending, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let run = Runs::new(folder.path()).create("test").unwrap();
    let program = "/bin/sh".into();
    let arguments = vec!["-c".into(), format!("read -r orders; {script}")];
    let ending = exec::drive(Driver {
        plan: &plan(),
        run: &run,
        launcher: Launcher { program, arguments },
        limits: Limits { memory: u64::MAX, threads: 2 },
        clock: Clock::system(),
        stop,
        surroundings: Surroundings { isa: None, cache: folder.path().into(), offline: true },
        show,
    });
    (ending.unwrap(), read_events(&run.events()).unwrap())
}

fn undisturbed(script: &str) -> (Ending, Vec<Event>) {
    drive(script, &AtomicUsize::new(0), &mut |_| {})
}

fn count(events: &[Event], wanted: impl Fn(&Kind) -> bool) -> usize {
    events.iter().filter(|event| wanted(&event.kind)).count()
}

#[test]
fn tasks_run_one_after_the_other_and_end_in_a_report() {
    let (ending, events) = undisturbed(DONE);
    let Ending::Done(report) = ending else { panic!("{ending:?}") };
    assert_eq!((report.state, report.workers, report.peak_rss_bytes), (State::Done, 1, 7));
    let started: Vec<_> = events
        .iter()
        .filter(|event| matches!(event.kind, Kind::TaskStarted { .. }))
        .map(|event| event.task.clone().unwrap())
        .collect();
    assert_eq!(started, ["prepare", "train", "evaluate"]);
    assert_eq!(events.last().unwrap().kind, Kind::RunDone {});
}

#[test]
fn a_process_that_dies_is_followed_by_others_but_not_for_ever() {
    let (ending, events) = undisturbed("kill -9 $$");
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("`prepare`") && reason.contains("5 times in a row"), "{reason}");
    assert_eq!(count(&events, |kind| matches!(kind, Kind::TaskStarted { .. })), 5);
    assert_eq!(count(&events, |kind| matches!(kind, Kind::TaskRestarted { .. })), 4);
}

#[test]
fn a_process_that_gets_somewhere_may_die_as_often_as_it_likes() {
    // Dies six times, each time after a checkpoint; then it is done.
    let script = format!(
        r#"case $orders in *'"process":6'*) {DONE};; *) echo '{{"event":"checkpoint","step":1}}'; kill -9 $$;; esac"#
    );
    let (ending, _) = undisturbed(&script);
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

#[test]
fn a_task_that_says_it_failed_is_not_tried_again() {
    let script = r#"echo '{"event":"task_failed","reason":"the disk is full"}'; exit 1"#;
    let (ending, events) = undisturbed(script);
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("`prepare` failed: the disk is full; see"), "{reason}");
    assert_eq!(count(&events, |kind| matches!(kind, Kind::TaskStarted { .. })), 1);
}

#[test]
fn nonsense_ends_a_task_and_a_torn_line_does_not() {
    let (ending, _) = undisturbed(&format!("echo 'hello there'; sleep 60; {DONE}"));
    let Ending::Failed(reason) = ending else { panic!("{ending:?}") };
    assert!(reason.contains("not an event: hello there"), "{reason}");

    let torn = format!(
        r#"case $orders in *'"process":1'*) {DONE};; *) printf '{{"event":"che'; kill -9 $$;; esac"#
    );
    let (ending, _) = undisturbed(&torn);
    assert!(matches!(ending, Ending::Done(_)), "{ending:?}");
}

#[test]
fn asked_once_tasks_leave_in_order_and_asked_twice_at_once() {
    // Each says a word once it has set its trap: before that, being asked would simply end it.
    let ready = r#"echo '{"event":"checkpoint","step":1}'; while :; do sleep 0.01; done"#;
    let leaves = r#"trap 'echo "{\"event\":\"task_stopped\",\"saved\":true}"; exit 0' TERM"#;
    for (trap, times, saved) in [(leaves, 1, true), ("trap '' TERM", 2, false)] {
        let stop = AtomicUsize::new(0);
        let mut show = |event: &Event| {
            if matches!(event.kind, Kind::Checkpoint { .. }) {
                stop.store(times, Ordering::SeqCst);
            }
        };
        let (ending, events) = drive(&format!("{trap}; {ready}"), &stop, &mut show);
        assert_eq!(ending, Ending::Stopped);
        assert_eq!(count(&events, |kind| *kind == Kind::TaskStopped { saved }), 1, "{trap}");
    }
}
