//! Any hosting, any length, any size of chunks and of the pipes between the processes: the sum is the
//! same bits, and nobody waits for ever.

use std::time::Duration;

use futures::future::try_join_all;
use proptest::prelude::*;

use super::Streams;
use crate::group::Part;
use crate::layout::Seat;
use crate::net::Stream;
use crate::tree::{Span, Sum};
use crate::{Broken, Layout};

#[derive(Clone, Debug)]
struct Case {
    /// The seat of each rank.
    hosts: Vec<usize>,
    seats: usize,
    lengths: Vec<usize>,
    chunk: usize,
    pipe: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let lengths = prop::collection::vec(0..1_500usize, 1..4);
    (1..10usize, 2..6usize).prop_flat_map(move |(world, seats)| {
        let hosts = prop::collection::vec(0..seats, world);
        (hosts, lengths.clone(), 1..8usize, 1..3_000usize).prop_map(
            move |(hosts, lengths, lines, pipe)| Case {
                hosts,
                seats,
                lengths,
                chunk: 16 * lines,
                pipe,
            },
        )
    })
}

impl Case {
    fn layouts(&self) -> Vec<Layout> {
        let mut layout = Layout::alone(self.hosts.len(), 1_500);
        let seat = layout.seats.remove(0);
        for host in 0..self.seats {
            let ranks = (0..self.hosts.len()).filter(|rank| self.hosts[*rank] == host).collect();
            layout.seats.push(Seat { process: host as u32, ranks, ..seat.clone() });
        }
        (0..self.seats).map(|me| Layout { me, ..layout.clone() }).collect()
    }

    /// A pipe between every two seats.
    fn pipes(&self) -> Vec<Vec<Box<dyn Stream>>> {
        let mut pipes: Vec<Vec<Box<dyn Stream>>> = (0..self.seats).map(|_| vec![]).collect();
        for far in 0..self.seats {
            for near in 0..far {
                let (one, other) = tokio::io::duplex(self.pipe);
                pipes[near].push(Box::new(one));
                pipes[far].push(Box::new(other));
            }
        }
        pipes
    }

    async fn run(self) -> Result<(), Broken> {
        let layouts = self.layouts();
        let seats = layouts.iter().zip(self.pipes()).map(|(layout, pipes)| {
            let ranks = layout.seats[layout.me].ranks.clone();
            let mut streams = Streams::with_chunks(layout, pipes, self.chunk);
            let (lengths, world) = (self.lengths.clone(), self.hosts.len());
            async move {
                // Who hosts no rank has no part in sums.
                for len in lengths.into_iter().filter(|_| !ranks.is_empty()) {
                    let values: Vec<Vec<f32>> =
                        ranks.iter().map(|rank| values(*rank, len)).collect();
                    let mut parts = vec![];
                    for (values, rank) in values.iter().zip(&ranks) {
                        parts.push(Part { values, note: [*rank as u8; 64] });
                    }
                    let summed = streams.all_reduce(&parts).await?;
                    assert_eq!(summed, len);
                    assert_eq!(bits(&streams.result[..len]), bits(&reference(world, len)));
                    let notes: Vec<_> = (0..world).map(|rank| [rank as u8; 64]).collect();
                    assert_eq!(streams.notes, notes);
                }
                Ok(())
            }
        });
        try_join_all(seats).await.map(|_| ())
    }
}

fn values(rank: usize, len: usize) -> Vec<f32> {
    let value = |place: usize| ((rank * 7_919 + place * 104_729) % 10_007) as f32 * 1.001;
    (0..len).map(value).collect()
}

fn reference(world: usize, len: usize) -> Vec<f32> {
    let leaves: Vec<Span> = (0..world).map(|rank| rank..rank + 1).collect();
    let values: Vec<Vec<f32>> = (0..world).map(|rank| values(rank, len)).collect();
    let slices: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
    let mut sum = vec![0.0; len];
    Sum::new(0..world, &leaves).run(&slices, &mut sum);
    sum
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #[test]
    fn the_sum_is_the_same_and_comes_to_an_end(case in cases()) {
        // The clock stands still while anybody can go on, and runs out when nobody can.
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        let patience = Duration::from_secs(3_600);
        let outcome = runtime.block_on(async { tokio::time::timeout(patience, case.run()).await });
        prop_assert_eq!(outcome.expect("nobody waits for ever"), Ok(()));
    }
}
