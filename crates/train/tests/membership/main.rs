//! What is decided about a crew, whatever happens to it and in whatever order.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod model;

use std::time::Duration;

use model::{Happening, Model};
use proptest::prelude::*;
use train::membership::{Decision, Phase, decide};
use train::message::Beat;

fn happening() -> impl Strategy<Value = Happening> {
    let process = || 0..8usize;
    prop_oneof![
        6 => (0..800u64).prop_map(|ms| Happening::Pass(Duration::from_millis(ms))),
        1 => (2_000..40_000u64).prop_map(|ms| Happening::Pass(Duration::from_millis(ms))),
        8 => process().prop_map(Happening::Call),
        1 => Just(Happening::Join),
        2 => process().prop_map(Happening::Cut),
        8 => (process(), any::<bool>(), any::<bool>()).prop_map(|(p, m, w)| Happening::Beat(p, m, w)),
        8 => (process(), proptest::option::of(0..30u64), 0..4u64)
            .prop_map(|(p, step, beyond)| Happening::Answer(p, step, beyond)),
        6 => (0..30u64).prop_map(Happening::AnswerAll),
        2 => process().prop_map(Happening::Leave),
        2 => process().prop_map(Happening::Die),
        2 => proptest::option::of(process()).prop_map(Happening::Break),
        1 => (0..30u64).prop_map(Happening::Save),
    ]
}

/// Everybody calls and answers, and time passes, until a group works.
fn settle(model: &mut Model) {
    for _ in 0..50 {
        let members = model.crew.members.len();
        (0..members).for_each(|n| model.happen(&Happening::Call(n)));
        model.lead();
        model.happen(&Happening::AnswerAll(7));
        model.lead();
        if matches!(model.crew.phase, Phase::Formed { .. } | Phase::Saving) {
            return;
        }
    }
    panic!("no group comes together: {:#?}", model.crew);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each decision is checked as it is carried out, and there is an end to them.
    #[test]
    fn whatever_happens_decisions_are_sound_and_come_to_an_end(
        world in 1..5usize,
        fewer in 0..3usize,
        happenings in prop::collection::vec(happening(), 0..120),
    ) {
        let mut model = Model::new(world, world.saturating_sub(fewer).max(1));
        model.lead();
        for happening in &happenings {
            model.happen(happening);
            model.lead();
        }
        // And whatever state that leads to, those that are there come together again.
        model.crew.members.retain(|_, member| !member.leaving);
        (model.crew.aside, model.crew.stumbles) = (Default::default(), 0);
        model.lead();
        settle(&mut model);
        let seats = &model.formed.last().unwrap().seats;
        let hosts = seats.iter().filter(|seat| !seat.ranks.is_empty()).count();
        prop_assert_eq!(hosts, model.crew.members.len().min(world));
    }

    /// The same when all are to leave.
    #[test]
    fn whatever_happened_a_stop_ends_in_saving(
        world in 1..5usize,
        happenings in prop::collection::vec(happening(), 0..60),
    ) {
        let mut model = Model::new(world, world);
        model.lead();
        for happening in happenings.iter().chain([&Happening::Stop]) {
            model.happen(happening);
            model.lead();
        }
        model.happen(&Happening::AnswerAll(7));
        model.lead();
        prop_assert_eq!(&model.crew.phase, &Phase::Saving);
        let before = model.formed.len();
        model.happen(&Happening::Join);
        model.lead();
        prop_assert_eq!(model.formed.len(), before);
    }
}

/// A group of two that works.
fn working() -> Model {
    let mut model = Model::new(2, 2);
    model.lead();
    settle(&mut model);
    assert_eq!(model.formed.last().unwrap().seats.len(), 2);
    model
}

fn decision(model: &Model) -> (Decision, String) {
    decide(model.now, &model.crew, &model.limits)
}

fn pass(model: &mut Model, milliseconds: u64, waits: bool) {
    for _ in 0..milliseconds / 100 {
        model.happen(&Happening::Pass(Duration::from_millis(100)));
        (0..2).for_each(|n| model.happen(&Happening::Beat(n, false, waits)));
    }
}

#[test]
fn silence_leads_to_giving_up() {
    let mut model = working();
    model.happen(&Happening::Pass(Duration::from_millis(1500)));
    model.happen(&Happening::Beat(1, true, false));
    assert_eq!(decision(&model).0, Decision::Wait);
    model.happen(&Happening::Pass(Duration::from_millis(1100)));
    let (decision, reason) = decision(&model);
    assert_eq!(decision, Decision::GiveUp(0));
    assert_eq!(reason, "process 0 has not been heard for 2.6 s");
}

#[test]
fn those_that_wait_for_each_other_too_long_are_halted_and_those_that_compute_are_not() {
    let mut model = working();
    pass(&mut model, 60_000, false);
    assert_eq!(decision(&model).0, Decision::Wait);
    pass(&mut model, 1_900, true);
    assert_eq!(decision(&model).0, Decision::Wait);
    pass(&mut model, 300, true);
    let (decision, reason) = decision(&model);
    assert!(matches!(decision, Decision::Halt(_)), "{decision:?}");
    assert!(reason.starts_with("all have waited for each other for 2."), "{reason}");
}

#[test]
fn those_that_wait_while_much_is_exchanged_are_let_be() {
    let mut model = working();
    let processes: Vec<u32> = model.crew.members.keys().copied().collect();
    for exchanged in 1..=100 {
        model.happen(&Happening::Pass(Duration::from_millis(100)));
        let beat = Beat { waits: true, exchanged, ..Beat::default() };
        processes.iter().for_each(|&process| model.crew.beat(process, beat, model.now));
        assert_eq!(decision(&model).0, Decision::Wait);
    }
    pass(&mut model, 2_200, true);
    assert!(matches!(decision(&model).0, Decision::Halt(_)));
}

#[test]
fn one_that_is_blamed_for_three_broken_groups_in_a_row_is_set_aside() {
    let mut model = working();
    for _ in 0..3 {
        assert!(matches!(model.crew.phase, Phase::Formed { .. }));
        model.happen(&Happening::Break(Some(1)));
        model.lead();
        model.happen(&Happening::AnswerAll(7));
        if model.crew.stumbles < model.limits.stumbles {
            model.lead();
        }
    }
    let (decision, reason) = decision(&model);
    assert_eq!(decision, Decision::SetAside(1));
    assert_eq!(reason, "3 groups with process 1 broke");
}

#[test]
fn one_that_lags_behind_what_was_saved_is_not_gone_on_from() {
    let mut model = working();
    model.crew.saved = Some(20);
    model.happen(&Happening::Break(None));
    model.lead();
    model.happen(&Happening::AnswerAll(19));
    model.lead();
    let formation = model.formed.last().unwrap();
    assert_eq!((formation.mark, formation.share), (None, true));
}

#[test]
fn a_driver_that_was_away_blames_nobody() {
    let mut model = working();
    model.happen(&Happening::Pass(Duration::from_secs(60)));
    assert_eq!(decision(&model).0, Decision::GiveUp(0));
    model.crew.excuse(Duration::from_secs(60));
    assert_eq!(decision(&model).0, Decision::Wait);
    model.happen(&Happening::Pass(Duration::from_millis(2_600)));
    assert_eq!(decision(&model).0, Decision::GiveUp(0));
}

#[test]
fn who_gives_signs_of_life_and_does_nothing_for_very_long_is_given_up() {
    let mut model = working();
    pass(&mut model, 1_799_000, false);
    assert_eq!(decision(&model).0, Decision::Wait);
    model.happen(&Happening::Beat(1, true, false));
    pass(&mut model, 2_000, false);
    let (given_up, reason) = decision(&model);
    assert_eq!(
        (given_up, &*reason),
        (Decision::GiveUp(0), "process 0 has done nothing for 30 minutes")
    );

    // The same for one that does not say what it holds.
    let mut model = working();
    model.happen(&Happening::Break(None));
    model.lead();
    model.happen(&Happening::Answer(1, Some(7), 0));
    pass(&mut model, 1_799_000, false);
    assert_eq!(decision(&model).0, Decision::Wait);
    pass(&mut model, 2_000, false);
    assert_eq!(decision(&model).0, Decision::GiveUp(0));
}

#[test]
fn a_group_that_got_further_has_not_stumbled() {
    let mut model = working();
    for step in 8..20 {
        model.happen(&Happening::Break(Some(1)));
        model.lead();
        model.happen(&Happening::AnswerAll(step));
        assert!(matches!(decision(&model).0, Decision::Form(_)), "{:?}", decision(&model));
        model.lead();
    }
}

#[test]
fn what_a_server_does_is_not_taken_for_work_that_goes_on() {
    let mut model = working();
    model.crew.stumbles = 2;
    let beat = Beat { moves: 9, ..Beat::default() };
    model.crew.members.get_mut(&1).unwrap().seated = false;
    model.crew.beat(1, beat, model.now);
    assert_eq!(model.crew.stumbles, 2);
    model.crew.beat(0, beat, model.now);
    assert_eq!(model.crew.stumbles, 0);
}

#[test]
fn who_leaves_is_asked_for_its_state_only_where_nobody_else_has_it() {
    let mut model = working();
    model.happen(&Happening::Leave(0));
    model.lead();
    model.happen(&Happening::Call(2));
    model.happen(&Happening::AnswerAll(9));
    model.lead();
    let formation = model.formed.last().unwrap();
    assert_eq!(formation.source, 1);
    assert!(formation.seat_of(0).is_none(), "{formation:?}");
}

#[test]
fn the_only_one_saves_what_it_holds_when_it_leaves() {
    let mut model = Model::new(2, 0);
    model.happen(&Happening::Join);
    settle(&mut model);
    model.happen(&Happening::Leave(0));
    model.lead();
    model.happen(&Happening::Answer(0, Some(9), 0));
    assert_eq!(decision(&model).0, Decision::Dismiss(Some(0)));
    model.crew.members.get_mut(&0).unwrap().dismissed = true;
    assert_eq!(decision(&model).0, Decision::Wait);
}
