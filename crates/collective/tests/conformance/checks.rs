//! What every link must do, one function each.

use std::sync::Barrier;
use std::time::Duration;

use collective::{Broken, Group, Layout, Note, Part};
use tokio::sync::watch;

use crate::meeting::{Member, Place, meet};
use crate::numbers::{Brought, bits, hosting, note, notes, one_each, sum, value};

/// One all-reduce whose outcome is compared with the reference. Who hosts no rank has no part in it.
async fn reduce(group: &mut Group, round: usize, len: usize) {
    if group.ranks().is_empty() {
        return;
    }
    let brought = Brought::new(round, group.ranks(), len);
    let world = group.world();
    let summed = group.all_reduce(&brought.parts()).await.unwrap();
    assert_eq!(bits(summed.values), bits(&sum(round, world, len)), "{len} values, round {round}");
    assert_eq!(summed.notes, notes(round, world));
}

/// Every world, hosted by one process each and at random, some hosting nothing.
pub(crate) fn sums_are_canonical(place: Place) {
    for world in 1..=9 {
        meet(place, &one_each(world), 100, async |mut member: Member| {
            reduce(&mut member.group, world, 100).await;
        });
        for seats in [2, 3, 5] {
            meet(place, &hosting(world as u64, world, seats), 50, async |mut member: Member| {
                reduce(&mut member.group, world, 50).await;
            });
        }
    }
}

/// Lengths around the sizes at which values are cut.
pub(crate) fn any_length_will_do(place: Place) {
    let lengths = [0, 1, 15, 16, 17, 31, 33, 1_000, 65_537, 250_007];
    for hosting in [one_each(2), one_each(3), hosting(5, 6, 3)] {
        meet(place, &hosting, 250_007, async |mut member: Member| {
            for (round, len) in lengths.into_iter().enumerate() {
                reduce(&mut member.group, round, len).await;
            }
        });
    }
}

/// Values that lie in slots are summed as well, and a slot outlives its group.
pub(crate) fn slots_hold_values(place: Place) {
    meet(place, &hosting(3, 5, 3), 333, async |Member { mut group, .. }: Member| {
        let ranks = group.ranks().to_vec();
        if ranks.is_empty() {
            return;
        }
        let mut slots: Vec<_> = ranks.iter().map(|&rank| group.slot(rank)).collect();
        // A second slot of a rank is not the first.
        let mut again: Vec<_> = ranks.iter().map(|&rank| group.slot(rank)).collect();
        for round in 0..20 {
            for ((slot, again), &rank) in slots.iter_mut().zip(&mut again).zip(&ranks) {
                assert_eq!(slot.len(), 333);
                again.fill(f32::NAN);
                for (number, value_at) in slot.iter_mut().enumerate() {
                    *value_at = value(round, rank, number);
                }
            }
            let mut parts = vec![];
            for (slot, &rank) in slots.iter().zip(&ranks) {
                parts.push(Part { values: &slot[..], note: note(round, rank) });
            }
            let summed = group.all_reduce(&parts).await.unwrap();
            assert_eq!(bits(summed.values), bits(&sum(round, 5, 333)));
        }
        drop(group);
        for slot in &mut slots {
            slot.fill(1.0);
            assert_eq!(slot.iter().sum::<f32>(), 333.0);
        }
    });
}

/// Hundreds of exchanges of all kinds, mixed.
pub(crate) fn many_rounds(place: Place) {
    meet(place, &hosting(1, 4, 3), 600, async |Member { mut group, .. }: Member| {
        for round in 0..300 {
            reduce(&mut group, round, [600, 7, 64][round % 3]).await;
            let ranks = group.ranks().to_vec();
            let own: Vec<Note> = ranks.iter().map(|&rank| note(round, rank)).collect();
            if !ranks.is_empty() {
                assert_eq!(group.gather(&own).await.unwrap(), notes(round, 4));
                group.barrier().await.unwrap();
            }
            let mut values = vec![group.me() as f32; round];
            group.broadcast(round % 3, &mut values).await.unwrap();
            assert_eq!(values, vec![(round % 3) as f32; round]);
        }
    });
}

/// Anyone's values to everyone, short and long.
pub(crate) fn broadcast_reaches_everyone(place: Place) {
    meet(place, &hosting(2, 3, 4), 10, async |Member { mut group, .. }: Member| {
        for from in 0..4 {
            for len in [0, 1, 100, 300_001] {
                let mut values: Vec<f32> = (0..len).map(|at| value(group.me(), 0, at)).collect();
                group.broadcast(from, &mut values).await.unwrap();
                let expected: Vec<f32> = (0..len).map(|at| value(from, 0, at)).collect();
                assert_eq!(bits(&values), bits(&expected));
            }
        }
    });
}

/// Two exchange while the others do something else.
pub(crate) fn pass_concerns_two(place: Place) {
    meet(place, &one_each(4), 100, async |Member { mut group, .. }: Member| {
        let me = group.me();
        for round in 0..5 {
            // 0 gives 2 something and gets it back, 3 gives 1 something.
            for (from, to) in [(0, 2), (3, 1), (2, 0)] {
                if me == from || me == to {
                    let len = [200_003, 5, 0, 1_000, 64][round];
                    let mut values: Vec<f32> = (0..len).map(|at| value(me, round, at)).collect();
                    group.pass(from, to, &mut values).await.unwrap();
                    let expected: Vec<f32> = (0..len).map(|at| value(from, round, at)).collect();
                    assert_eq!(bits(&values), bits(&expected));
                }
            }
            reduce(&mut group, round, 100).await;
        }
    });
}

/// A newer generation ends every kind of wait.
pub(crate) fn superseded_ends_waits(place: Place) {
    for operation in 0..4 {
        // All are told by the same word, or the first to leave would be missed.
        let (announce, newest) = watch::channel(2);
        let all_are_well = Barrier::new(3);
        meet(place, &one_each(3), 100_000, async |member: Member| {
            let layout = Layout { generation: 2, ..member.layout.clone() };
            let mut group = member.port.form(layout, newest.clone()).await.unwrap();
            reduce(&mut group, 0, 10).await;
            all_are_well.wait();
            let broken = wait_for_the_last(&mut group, operation, &announce).await;
            assert_eq!(broken, Broken::Superseded);
            assert_eq!(group.barrier().await, Err(Broken::Superseded));
        });
    }
}

/// Waits for the last seat, which announces a generation instead of taking part.
async fn wait_for_the_last(
    group: &mut Group,
    operation: usize,
    announce: &watch::Sender<u64>,
) -> Broken {
    let me = group.me();
    let outcome = match operation {
        _ if me == 2 => {
            // The others are most likely waiting by now.
            tokio::time::sleep(Duration::from_millis(20)).await;
            announce.send_replace(3);
            Err(Broken::Superseded)
        }
        0 => {
            let brought = Brought::new(0, group.ranks(), 100_000);
            group.all_reduce(&brought.parts()).await.map(|_| ())
        }
        1 => group.barrier().await,
        2 => group.broadcast(2, &mut [0.0; 10]).await,
        _ => group.pass(2, me, &mut [0.0; 10]).await,
    };
    outcome.expect_err("the last seat did not take part")
}

/// The same processes, generation after generation, hosting other ranks each time.
pub(crate) fn generations_follow(place: Place) {
    let others = [hosting(7, 4, 3), hosting(8, 4, 3), vec![vec![3], vec![0, 1], vec![2]]];
    meet(place, &hosting(6, 4, 3), 1_000, async |mut member: Member| {
        reduce(&mut member.group, 0, 1_000).await;
        for (round, hosting) in others.iter().enumerate() {
            let mut group = member.form(round as u64 + 2, hosting).await.unwrap();
            assert_eq!(group.ranks(), hosting[group.me()]);
            reduce(&mut group, round, 1_000).await;
            // The old one is good for nothing, and harms nobody.
            if !member.group.ranks().is_empty() {
                assert_eq!(member.group.barrier().await.err(), Some(Broken::Superseded));
            }
            member.group = group;
        }
    });
}

/// A process that was stopped wakes up in a generation that is over: nobody is disturbed by it, and it
/// does not take a sum for whole that is not.
pub(crate) fn the_late_harm_nobody(place: Place) {
    let woken = Barrier::new(3);
    meet(place, &one_each(3), 5_000, async |mut member: Member| {
        reduce(&mut member.group, 0, 5_000).await;
        let me = member.group.me();
        if me == 2 {
            woken.wait();
            let brought = Brought::new(1, &[2], 5_000);
            let broken = member.group.all_reduce(&brought.parts()).await.err().unwrap();
            assert!(matches!(broken, Broken::Lost { .. }), "{broken}");
            return;
        }
        let mut slot = member.group.slot(me);
        let (fence, group) = (&member.fence, &mut member.group);
        let parts = [Part { values: &slot, note: [0; 64] }];
        let (outcome, _) =
            tokio::join!(async { group.all_reduce(&parts).await.map(|_| ()) }, async {
                fence.send_replace(2)
            });
        // One of the two may have gone when the other was told.
        assert!(outcome.is_err());
        slot.fill(f32::NAN);
        let mut layout = Layout { generation: 2, ..member.layout.clone() };
        layout.seats.truncate(2);
        layout.seats[0].ranks = vec![0, 2];
        let mut group = member.port.form(layout, fence.subscribe()).await.unwrap();
        reduce(&mut group, 1, 5_000).await;
        drop(member.group);
        woken.wait();
        reduce(&mut group, 2, 5_000).await;
    });
}

/// Processes that do not agree notice.
pub(crate) fn disagreement_is_refused(place: Place) {
    meet(place, &one_each(2), 100, async |Member { mut group, .. }: Member| {
        let len = 10 + group.me();
        let brought = Brought::new(0, group.ranks(), len);
        let broken = group.all_reduce(&brought.parts()).await.err().unwrap();
        assert!(is_disagreement(&broken), "{broken}");
    });
    meet(place, &one_each(2), 100, async |Member { mut group, .. }: Member| {
        let broken = match group.me() {
            0 => group.broadcast(0, &mut [0.0; 3]).await.err(),
            _ => group.broadcast(0, &mut [0.0; 4]).await.err(),
        };
        // The one who sends may not notice.
        assert!(broken.is_none_or(|broken| is_disagreement(&broken)));
    });
}

/// Whoever notices first leaves, and so the other may only see that it is gone.
fn is_disagreement(broken: &Broken) -> bool {
    matches!(broken, Broken::Refused { .. } | Broken::Lost { .. })
}

/// What makes no sense is refused before anything is sent.
pub(crate) fn misuse_is_told(place: Place) {
    meet(place, &one_each(2), 10, async |Member { mut group, .. }: Member| {
        let broken = group.all_reduce(&[]).await.err().unwrap();
        assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
        assert_eq!(group.barrier().await.err(), Some(broken));
    });
    meet(place, &one_each(2), 10, async |Member { mut group, .. }: Member| {
        let brought = Brought::new(0, group.ranks(), 11);
        let broken = group.all_reduce(&brought.parts()).await.err().unwrap();
        assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
    });
    meet(place, &one_each(2), 10, async |Member { mut group, .. }: Member| {
        let broken = group.broadcast(2, &mut []).await.err().unwrap();
        assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
    });
}

/// Who hosts no rank gives what it has, goes, and is not missed.
pub(crate) fn who_hosts_nothing_may_go(place: Place) {
    let hosting = [vec![1], vec![], vec![0, 2]];
    let gone = Barrier::new(3);
    meet(place, &hosting, 5_000, async |Member { mut group, .. }: Member| {
        reduce(&mut group, 0, 5_000).await;
        let mut given = [if group.me() == 1 { 7.0 } else { 0.0 }; 100];
        group.broadcast(1, &mut given).await.unwrap();
        assert_eq!(given, [7.0; 100]);
        if group.me() == 1 {
            let broken = group.barrier().await.err().unwrap();
            assert!(matches!(broken, Broken::Misused { .. }), "{broken}");
            drop(group);
            gone.wait();
            return;
        }
        gone.wait();
        for round in 1..4 {
            reduce(&mut group, round, 5_000).await;
        }
    });
}

/// Whoever is gone is missed at once.
pub(crate) fn the_lost_are_missed(place: Place) {
    meet(place, &one_each(3), 100_000, async |Member { mut group, .. }: Member| {
        reduce(&mut group, 0, 100).await;
        if group.me() == 1 {
            return;
        }
        let brought = Brought::new(0, group.ranks(), 100_000);
        let broken = group.all_reduce(&brought.parts()).await.err().unwrap();
        assert!(matches!(broken, Broken::Lost { .. }), "{broken}");
    });
}

/// A group says what it is.
pub(crate) fn a_group_knows_itself(place: Place) {
    let hosting = [vec![2, 0], vec![], vec![1]];
    meet(place, &hosting, 10, async |Member { mut group, layout, .. }: Member| {
        assert_eq!(group.world(), 3);
        assert_eq!(group.ranks(), hosting[group.me()]);
        assert_eq!(group.layout(), &layout);
        assert_eq!(group.link(), place.link());
        assert_eq!(group.bytes_sent(), 0);
        reduce(&mut group, 1, 10).await;
    });
}

/// Longer than a connection may carry bytes that nobody takes.
const LATE: Duration = Duration::from_secs(4);

/// A process may compute for longer than a network may be silent.
pub(crate) fn sums_wait_for_those_who_compute(place: Place) {
    meet(place, &one_each(3), 3_000_000, async |Member { mut group, .. }: Member| {
        if group.me() == 1 {
            std::thread::sleep(LATE);
        }
        reduce(&mut group, 0, 3_000_000).await;
    });
}

/// The same for other exchanges.
pub(crate) fn copies_wait_for_those_who_compute(place: Place) {
    meet(place, &one_each(2), 10, async |Member { mut group, .. }: Member| {
        if group.me() == 1 {
            std::thread::sleep(LATE);
        }
        let mut values = vec![group.me() as f32; 5_000_000];
        group.broadcast(0, &mut values).await.unwrap();
        assert!(values.iter().all(|value| *value == 0.0));
    });
}
