//! The next group: who takes part, whose state all go on from, and what is handed over.

use collective::{Contact, Seat};

use super::{Crew, Line, place};
use crate::message::{Formation, Held, Mark, Move};

/// The process whose state is the newest; of equals one that stays, and the lowest. None where the newest was saved, and
/// nobody that holds it is left: one that was cut off long ago may still be there.
fn source(crew: &Crew) -> Option<u32> {
    let held = crew.lines().filter_map(|(process, member, line)| {
        Some((mark(line)?, !member.leaving, std::cmp::Reverse(process)))
    });
    let newest = held.filter(|(mark, ..)| crew.loose || Some(mark.step) >= crew.saved);
    newest.max().map(|(.., std::cmp::Reverse(process))| process)
}

/// The server of each range and where it is reached; none where one has not arrived. A server keeps the
/// range it holds, and one that holds nothing takes what nobody does.
pub fn servers(crew: &Crew) -> Option<Vec<(u32, Contact)>> {
    let kept = |process: u32| held(crew, process)?.keeps.as_ref();
    let here: Vec<u32> = crew
        .lines()
        .filter(|(_, member, _)| member.serves && !member.leaving)
        .map(|(process, ..)| process)
        .collect();
    let mut places: Vec<Option<u32>> = vec![None; crew.keepers.len()];
    for &process in &here {
        if let Some(place) = kept(process)?.index.and_then(|index| places.get_mut(index)) {
            place.get_or_insert(process);
        }
    }
    let taken = places.clone();
    let mut free = here.into_iter().filter(|process| !taken.contains(&Some(*process)));
    let filled = places.into_iter().map(|place| place.or_else(|| free.next()));
    filled.map(|process| Some((process?, kept(process?)?.contact.clone()))).collect()
}

/// The process whose state all can go on from, if any: the newest, where servers hold their ranges of
/// it too. Where one does not, all go back to what was saved.
pub(super) fn whole(crew: &Crew, servers: &[(u32, Contact)]) -> Option<u32> {
    let holds = |(index, process): (usize, u32), step: u64| {
        let kept = held(crew, process).and_then(|held| held.keeps.as_ref());
        kept.is_some_and(|kept| {
            let reached = kept.steps.contains(&step) || (crew.loose && !kept.steps.is_empty());
            kept.index == Some(index) && reached
        })
    };
    source(crew).filter(|&process| {
        let step = held(crew, process).and_then(|held| held.mark).map_or(0, |mark| mark.step);
        servers.iter().enumerate().all(|(index, (server, _))| holds((index, *server), step))
    })
}

/// The group to form, where every process has said what it holds.
pub(super) fn formation(crew: &Crew) -> Formation {
    let hosts = place::place(&crew.hosts, &crew.usable());
    let servers = servers(crew).unwrap_or_default();
    let newest = whole(crew, &servers);
    let source = newest.unwrap_or(hosts[0]);
    let moves = moves(crew, &hosts, newest);
    let mut processes: Vec<u32> = vec![];
    // Who hosts rank 0 comes first; who only hands something over comes last.
    for process in hosts.iter().copied().chain([source]).chain(moves.iter().map(|m| m.from)) {
        if !processes.contains(&process) {
            processes.push(process);
        }
    }
    let mark_of = |process: u32| held(crew, process).and_then(|held| held.mark);
    let share = processes.len() > 1
        && (newest.is_none() || processes.iter().any(|&p| mark_of(p) != mark_of(source)));
    let seat = |process: u32| {
        let member = &crew.members[&process];
        let line = member.line.as_ref().expect("only processes with a line are seated");
        let ranks = (0..crew.world).filter(|&rank| hosts[rank] == process).collect();
        Seat { process, contact: line.contact.clone(), ranks }
    };
    Formation {
        generation: crew.generation,
        world: crew.world,
        seats: processes.into_iter().map(seat).collect(),
        source,
        mark: newest.and_then(mark_of),
        share,
        moves,
        told: crew.told,
        servers,
    }
}

/// For each rank that somebody else has taken further than its host: who hands it over.
fn moves(crew: &Crew, hosts: &[u32], newest: Option<u32>) -> Vec<Move> {
    let Some(mark) = newest.and_then(|process| held(crew, process)?.mark) else {
        return vec![];
    };
    let reached = |held: &Held, rank: usize| {
        let valid = held.mark == Some(mark);
        let replica = held.replicas.iter().find(|(other, _)| *other == rank);
        replica.filter(|_| valid).map(|&(_, step)| step)
    };
    let moved = |rank: usize| {
        let to = hosts[rank];
        let own = held(crew, to).and_then(|held| reached(held, rank));
        let others = crew.lines().filter_map(|(process, _, line)| {
            Some((reached(line.held.as_ref()?, rank)?, std::cmp::Reverse(process)))
        });
        let (step, std::cmp::Reverse(from)) = others.max()?;
        (Some(step) > own && from != to).then_some(Move { rank, from, to })
    };
    (0..crew.world).filter_map(moved).collect()
}

fn held(crew: &Crew, process: u32) -> Option<&Held> {
    crew.members.get(&process)?.line.as_ref()?.held.as_ref()
}

fn mark(line: &Line) -> Option<Mark> {
    line.held.as_ref()?.mark
}
