//! Which process hosts which rank.

use std::collections::BTreeMap;

/// Places every rank on one of the processes that can be used. A rank stays where it is if it can; one
/// whose process is gone goes to the process with the fewest; and a process that has two more than
/// another gives its highest one away.
///
/// # Panics
/// When there is no process.
pub(super) fn place(before: &[Option<u32>], usable: &[u32]) -> Vec<u32> {
    assert!(!usable.is_empty(), "ranks are placed on processes");
    if before.iter().all(Option::is_none) {
        // Neighbours together: whole branches of the sum over ranks are then added in one place.
        let used = usable.len().min(before.len());
        return (0..before.len()).map(|rank| usable[rank * used / before.len()]).collect();
    }
    let mut load: BTreeMap<u32, Vec<usize>> = usable.iter().map(|&p| (p, vec![])).collect();
    let mut homeless = vec![];
    for (rank, host) in before.iter().enumerate() {
        match host.and_then(|host| load.get_mut(&host)) {
            Some(ranks) => ranks.push(rank),
            None => homeless.push(rank),
        }
    }
    let emptiest = |load: &BTreeMap<u32, Vec<usize>>| {
        let least = load.iter().min_by_key(|(process, ranks)| (ranks.len(), **process));
        *least.expect("there is a process").0
    };
    for rank in homeless {
        let process = emptiest(&load);
        load.entry(process).or_default().push(rank);
    }
    loop {
        let (to, fullest) = (emptiest(&load), fullest(&load));
        if load[&fullest].len() < load[&to].len() + 2 {
            break;
        }
        let ranks = load.entry(fullest).or_default();
        ranks.sort_unstable();
        if let Some(rank) = ranks.pop() {
            load.entry(to).or_default().push(rank);
        }
    }
    let mut hosts = vec![usable[0]; before.len()];
    for (process, ranks) in load {
        ranks.into_iter().for_each(|rank| hosts[rank] = process);
    }
    hosts
}

fn fullest(load: &BTreeMap<u32, Vec<usize>>) -> u32 {
    let most = load.iter().max_by_key(|(process, ranks)| (ranks.len(), **process));
    *most.expect("there is a process").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_stay_move_and_come_back() {
        assert_eq!(place(&[None; 4], &[7, 8]), [7, 7, 8, 8]);
        assert_eq!(place(&[None; 2], &[7, 8, 9]), [7, 8]);
        let three = place(&[None; 3], &[0, 1, 2]);
        assert_eq!(three, [0, 1, 2]);
        let hosts = |placed: &[u32]| placed.iter().copied().map(Some).collect::<Vec<_>>();
        let without_1 = place(&hosts(&three), &[0, 2]);
        assert_eq!(without_1, [0, 0, 2]);
        assert_eq!(place(&hosts(&without_1), &[0, 2, 3]), [0, 3, 2]);
        assert_eq!(place(&hosts(&three), &[0, 1, 2, 3]), three);
        assert_eq!(place(&hosts(&three), &[9]), [9, 9, 9]);
    }
}
