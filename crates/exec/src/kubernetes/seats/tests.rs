//! Who sits where, and what is to be done about it.

use plan::{Facts, Role, Task};

use super::*;

const SERVERS: &str = "name: mnist
data: mnist-sample
model: mnist-mlp
train: { workers: 2, strategy: { parameter_server: { servers: 1 } } }
";

fn task() -> Task {
    let spec = spec::parse(SERVERS, "run.yaml", &[]).unwrap();
    let facts = Facts {
        memory: [("train".to_owned(), 100)].into(),
        server_memory: [("train".to_owned(), 7)].into(),
        ..Facts::default()
    };
    let plan = plan::plan(&spec, &facts).unwrap();
    plan.tasks.into_iter().find(|task| matches!(task.role, Role::Worker { .. })).unwrap()
}

fn seats() -> Seats {
    Seats::new("mnist-1", &spec::Kubernetes::default(), BTreeMap::new())
}

/// Where each of several workers has nodes of its own.
fn pinned(places: usize) -> Seats {
    let label = |place: usize| spec::Labels::from([("disk".to_owned(), place.to_string())]);
    let mut given = spec::Kubernetes::default();
    given.workers.node_selector = Some(spec::NodeSelector::Each((0..places).map(label).collect()));
    Seats::new("mnist-1", &given, BTreeMap::new())
}

fn place(job: &str, index: u32) -> Place {
    Place { job: job.to_owned(), index }
}

/// What is seen of the pod `uid` in a place.
fn sight(place: Place, uid: &str, state: PodState) -> Sight {
    Sight {
        place,
        pod: format!("pod-{uid}"),
        uid: uid.to_owned(),
        container: "worker".into(),
        node: None,
        state,
    }
}

fn ended(how: &str) -> PodState {
    PodState::Failed(how.to_owned())
}

fn waiting(why: &str) -> PodState {
    PodState::Waiting(Some(why.to_owned()))
}

fn tasks(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[test]
fn a_place_has_a_name_that_can_be_read() {
    let train = place("mnist-1-train", 12);
    assert_eq!(train.name(), "mnist-1-train-12");
    assert_eq!(Place::parse("mnist-1-train-12"), Some(train));
    assert_eq!(Place::parse("mnist"), None);
    assert_eq!(Place::parse("mnist-1-train"), None);
}

#[test]
fn each_process_has_a_place_of_its_own_and_its_job_grows() {
    let (mut seats, task) = (seats(), task());
    for process in 0..2 {
        let (at, wish) = seats.start(&task, process, Part::Worker);
        assert_eq!(at, place("mnist-1-train", process));
        let pool = Pool {
            name: "mnist-1-train".into(),
            task: "train".into(),
            part: Part::Worker,
            place: None,
            memory: 100,
        };
        assert_eq!(wish, Wish::Grow(pool, process + 1));
        assert_eq!(seats.at(&at.name()), Some(process));
    }
    let (at, wish) = seats.start(&task, 2, Part::Server);
    assert_eq!(at, place("mnist-1-train-servers", 0));
    assert!(matches!(wish, Wish::Grow(pool, 1) if pool.memory == 7 && pool.part == Part::Server));
    assert_eq!(seats.at("mnist-1-train-2"), None);
    assert!(seats.ended.is_empty() && seats.delayed.is_empty());
}

#[test]
fn a_replacement_gets_the_next_number() {
    let (mut seats, task) = (seats(), task());
    seats.start(&task, 0, Part::Worker);
    seats.see(sight(place("mnist-1-train", 0), "a", ended("was killed (signal 9)")));
    assert_eq!(seats.ended, [(0, "was killed (signal 9)".to_owned())]);
    let (at, wish) = seats.start(&task, 1, Part::Worker);
    assert_eq!(at, place("mnist-1-train", 1));
    assert!(matches!(wish, Wish::Grow(_, 2)));
}

#[test]
fn numbers_go_on_after_those_of_an_earlier_driver() {
    let staff = Staff { task: "train".into(), next: 3, ..Staff::default() };
    let jobs = BTreeMap::from([("mnist-1-train".to_owned(), staff)]);
    let mut seats = Seats::new("mnist-1", &spec::Kubernetes::default(), jobs);
    seats.sit(&task(), 4, place("mnist-1-train", 1));
    assert_eq!(seats.at("mnist-1-train-1"), Some(4));
    let (at, wish) = seats.start(&task(), 5, Part::Worker);
    assert_eq!(at, place("mnist-1-train", 3));
    assert!(matches!(wish, Wish::Grow(_, 4)));
}

#[test]
fn who_is_given_up_is_nobody_from_then_on() {
    let (mut seats, task) = (seats(), task());
    let (at, _) = seats.start(&task, 0, Part::Worker);
    seats.start(&task, 1, Part::Worker);
    assert_eq!(seats.see(sight(at.clone(), "a", PodState::Running)), Some((0, "train".into())));
    let delete = Wish::Delete { pod: "pod-a".into(), uid: "a".into() };
    assert_eq!(seats.kill(0), Some(Some(delete)));
    assert_eq!(seats.kill(1), Some(None), "a pod that was not seen cannot be deleted");
    let why = "was ended by the driver".to_owned();
    assert_eq!(seats.ended, [(0, why.clone()), (1, why)]);
    assert_eq!(seats.at(&at.name()), None);
    assert_eq!(seats.see(sight(at, "a", ended("was killed (signal 9)"))), None);
    assert_eq!(seats.kill(0), None);
    assert_eq!(seats.ended.len(), 2, "it is told once");
}

#[test]
fn a_pod_that_comes_to_an_old_place_is_nobody() {
    let (mut seats, task) = (seats(), task());
    let (at, _) = seats.start(&task, 0, Part::Worker);
    seats.see(sight(at.clone(), "a", ended("ended with code 1")));
    assert_eq!(seats.see(sight(at.clone(), "b", PodState::Running)), None);
    assert_eq!(seats.at(&at.name()), None);
    assert_eq!(seats.see(sight(at, "b", ended("ended with code 1"))), None);
    assert_eq!(seats.ended.len(), 1);
}

#[test]
fn another_pod_in_the_same_place_changes_nothing() {
    let (mut seats, task) = (seats(), task());
    let (at, _) = seats.start(&task, 0, Part::Worker);
    seats.see(sight(at.clone(), "a", PodState::Running));
    assert_eq!(seats.see(sight(at.clone(), "b", waiting("no node fits"))), None);
    assert_eq!(seats.see(sight(at.clone(), "b", ended("was deleted"))), None);
    assert!(seats.ended.is_empty() && seats.delayed.is_empty());
    assert_eq!(seats.at(&at.name()), Some(0));
    assert_eq!(seats.see(sight(at, "a", ended("was deleted"))), Some((0, "train".into())));
    assert_eq!(seats.ended, [(0, "was deleted".to_owned())]);
}

#[test]
fn a_place_of_its_own_that_was_emptied_is_filled_again() {
    let (mut seats, task) = (pinned(3), task());
    let start = |seats: &mut Seats, process| {
        let (at, Wish::Grow(pool, count)) = seats.start(&task, process, Part::Worker) else {
            panic!("a start is a wish for a pod");
        };
        assert_eq!(at, place(&pool.name, count - 1));
        (pool.place.unwrap(), at.index)
    };
    let first: Vec<_> = (0..3).map(|process| start(&mut seats, process)).collect();
    assert_eq!(first, [(0, 0), (1, 0), (2, 0)]);
    seats.kill(1);
    assert_eq!(start(&mut seats, 3), (1, 1));
    seats.see(sight(place("mnist-1-train-2", 0), "c", ended("was deleted")));
    assert_eq!(start(&mut seats, 4), (2, 1));
    // More processes than places take turns.
    assert_eq!(start(&mut seats, 5), (0, 1));
    assert_eq!(start(&mut seats, 6), (1, 2));
}

#[test]
fn servers_are_not_where_workers_have_to_be() {
    let mut seats = pinned(2);
    let (at, wish) = seats.start(&task(), 0, Part::Server);
    assert_eq!(at, place("mnist-1-train-servers", 0));
    assert!(matches!(wish, Wish::Grow(pool, 1) if pool.place.is_none()));
}

#[test]
fn what_a_pod_waits_for_is_told_once() {
    let (mut seats, task) = (seats(), task());
    let (at, _) = seats.start(&task, 0, Part::Worker);
    seats.see(sight(at.clone(), "a", PodState::Waiting(None)));
    assert!(seats.delayed.is_empty());
    for why in ["no node fits", "no node fits", "no image"] {
        seats.see(sight(at.clone(), "a", waiting(why)));
    }
    assert_eq!(seats.delayed, [(0, "no node fits".to_owned()), (0, "no image".to_owned())]);
    assert!(seats.ended.is_empty());
}

#[test]
fn a_warning_about_a_job_is_for_those_who_have_no_pod() {
    let (mut seats, task) = (seats(), task());
    let (at, _) = seats.start(&task, 0, Part::Worker);
    seats.start(&task, 1, Part::Worker);
    seats.start(&task, 2, Part::Server);
    seats.see(sight(at, "a", PodState::Running));
    seats.warn("mnist-1-train", "quota");
    seats.warn("mnist-1-train", "quota");
    assert_eq!(seats.delayed, [(1, "quota".to_owned())]);
    seats.warn("pod-a", "no volume");
    seats.warn("pod-b", "no network");
    assert_eq!(seats.delayed[1..], [(0, "no volume".to_owned())]);
}

#[test]
fn a_job_is_finished_when_all_its_pods_ended_well() {
    let (mut seats, task) = (seats(), task());
    for process in 0..2 {
        seats.start(&task, process, Part::Worker);
    }
    let at = |index| place("mnist-1-train", index);
    assert_eq!(seats.unfinished(&tasks(&["train"])), ["mnist-1-train"]);
    assert!(seats.unfinished(&tasks(&["other"])).is_empty());
    seats.see(sight(at(0), "a", PodState::Done));
    // Seen twice, it is still one.
    seats.see(sight(at(0), "a", PodState::Done));
    seats.see(sight(at(1), "b", ended("ended with code 1")));
    assert_eq!(seats.unfinished(&tasks(&["train"])), ["mnist-1-train"]);
    // It is tried again, and told that it is not needed.
    assert_eq!(seats.see(sight(at(1), "c", PodState::Done)), None);
    assert!(seats.unfinished(&tasks(&["train"])).is_empty());
    seats.start(&task, 2, Part::Worker);
    assert_eq!(seats.unfinished(&tasks(&["train"])), ["mnist-1-train"]);
    seats.see(sight(place("another", 0), "d", PodState::Done));
    assert_eq!(seats.unfinished(&tasks(&["train"])), ["mnist-1-train"]);
}
