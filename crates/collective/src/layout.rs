//! Which process hosts which ranks, and where to find it.

use ring::digest;
use serde::{Deserialize, Serialize};

use crate::Broken;

/// Where a process can be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// The address of its port.
    pub address: String,
    /// The fingerprint of its certificate, empty where connections are plain.
    pub fingerprint: String,
    /// The machine it is on; `None` where memory cannot be shared.
    pub host: Option<Host>,
}

/// A machine, as far as sharing memory goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Equal for processes that can share memory: the machine's boot, network namespace and user.
    pub id: String,
    /// The process' abstract unix socket, over which memory is passed.
    pub socket: String,
}

/// A process in a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The process' number, which no other process of the run ever has.
    pub process: u32,
    /// Where it can be found.
    pub contact: Contact,
    /// The ranks that it hosts; there may be none.
    pub ranks: Vec<usize>,
}

/// Who makes up the group of one generation. All its processes get the same but for `me`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The generation's number.
    pub generation: u64,
    /// How many ranks there are.
    pub world: usize,
    /// The processes.
    pub seats: Vec<Seat>,
    /// The seat of this process.
    pub me: usize,
    /// How many floats a rank contributes at most.
    pub len: usize,
}

/// Equal for equal layouts, whoever `me` is.
pub(crate) type Digest = [u8; 32];

impl Layout {
    /// Every rank is hosted once, by different processes, and `me` is one of them.
    pub(crate) fn check(&self) -> Result<(), Broken> {
        let mut hosts = vec![0; self.world];
        for &rank in self.seats.iter().flat_map(|seat| &seat.ranks) {
            let unknown = || Broken::misused(format!("rank {rank} of {} is hosted", self.world));
            *hosts.get_mut(rank).ok_or_else(unknown)? += 1;
        }
        if let Some(rank) = hosts.iter().position(|&hosts| hosts != 1) {
            let problem = format!("rank {rank} is hosted {} times", hosts[rank]);
            return Err(Broken::misused(problem));
        }
        if self.me >= self.seats.len() || self.world == 0 {
            let (me, seats) = (self.me, self.seats.len());
            let problem = format!("seat {me} of {seats} in a world of {}", self.world);
            return Err(Broken::misused(problem));
        }
        let mut processes: Vec<u32> = self.seats.iter().map(|seat| seat.process).collect();
        processes.sort_unstable();
        match processes.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Broken::misused(format!("process {} has two seats", pair[0]))),
            None => Ok(()),
        }
    }

    /// What two processes compare to know that they mean the same group.
    pub(crate) fn digest(&self) -> Digest {
        let mut bytes = vec![];
        let mut put = |number: usize| bytes.extend_from_slice(&(number as u64).to_le_bytes());
        put(self.world);
        put(self.len);
        put(self.seats.len());
        for seat in &self.seats {
            put(seat.process as usize);
            put(seat.ranks.len());
            seat.ranks.iter().copied().for_each(&mut put);
        }
        bytes.extend_from_slice(&self.generation.to_le_bytes());
        let mut digest = [0; 32];
        digest.copy_from_slice(digest::digest(&digest::SHA256, &bytes).as_ref());
        digest
    }

    /// The seats that host ranks, each of which adds up a portion of the values.
    pub(crate) fn owners(&self) -> Vec<usize> {
        let hosts = |seat: &usize| !self.seats[*seat].ranks.is_empty();
        (0..self.seats.len()).filter(hosts).collect()
    }

    /// A layout of one process that hosts every rank and is not to be found.
    pub(crate) fn alone(world: usize, len: usize) -> Layout {
        let contact = Contact { address: String::new(), fingerprint: String::new(), host: None };
        let seat = Seat { process: 0, contact, ranks: (0..world).collect() };
        Layout { generation: 0, world, seats: vec![seat], me: 0, len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(ranks: &[&[usize]], world: usize) -> Layout {
        let mut layout = Layout::alone(0, 10);
        let seat = layout.seats.remove(0);
        layout.world = world;
        for (process, ranks) in (0..).zip(ranks) {
            layout.seats.push(Seat { process, ranks: ranks.to_vec(), ..seat.clone() });
        }
        layout
    }

    #[test]
    fn every_rank_is_hosted_once() {
        assert_eq!(layout(&[&[0, 2], &[], &[1]], 3).check(), Ok(()));
        assert!(layout(&[&[0], &[1]], 3).check().is_err());
        assert!(layout(&[&[0, 1], &[1]], 2).check().is_err());
        assert!(layout(&[&[0, 5]], 2).check().is_err());
        assert!(layout(&[], 0).check().is_err());
    }

    #[test]
    fn processes_and_seats_are_checked() {
        let good = layout(&[&[0], &[1]], 2);
        assert!(Layout { me: 2, ..good.clone() }.check().is_err());
        let mut twice = good.clone();
        twice.seats[1].process = 0;
        assert!(twice.check().is_err());
    }

    #[test]
    fn a_digest_tells_layouts_apart_but_not_seats() {
        let layout = layout(&[&[0], &[1]], 2);
        let same = Layout { me: 1, ..layout.clone() };
        assert_eq!(same.digest(), layout.digest());
        let longer = Layout { len: 11, ..layout.clone() };
        assert_ne!(longer.digest(), layout.digest());
        let later = Layout { generation: 1, ..layout.clone() };
        assert_ne!(later.digest(), layout.digest());
    }
}
