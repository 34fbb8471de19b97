//! Workers and how they work together, in words and in numbers.

use spec::{Assign, Average, Combine, Length, Mode, ParameterServer, Strategy, Sync, Train};

use crate::explain::counted;

/// How many steps an epoch over `samples` has: as many as the largest shard has batches.
pub(crate) fn steps_per_epoch(train: &Train, assign: Assign, samples: u64) -> u64 {
    let largest = assign.largest_shard(samples as usize, train.workers);
    largest.div_ceil(train.batch) as u64
}

/// How many steps training on `samples` has; none where it has no end, or triplets have yet to be drawn.
pub(crate) fn steps(train: &Train, assign: Assign, samples: u64) -> Option<u64> {
    match train.length {
        Length::Epochs(_) if train.embeds() => None,
        Length::Epochs(epochs) => Some(u64::from(epochs) * steps_per_epoch(train, assign, samples)),
        Length::Steps(steps) => Some(steps),
        Length::Endless => None,
    }
}

/// " on 3 workers, weights averaged every epoch,", or nothing for one that is alone.
pub(crate) fn explain(train: &Train) -> String {
    let how = match &train.strategy {
        Strategy::Single => return String::new(),
        Strategy::AllReduce => "gradients averaged every step".into(),
        Strategy::Average(average) => averaged(average),
        Strategy::ParameterServer(servers) => served(servers),
    };
    format!(" on {}, {how},", counted(train.workers as u64, "worker"))
}

fn averaged(average: &Average) -> String {
    let start = if average.shared_init { "" } else { ", each from weights of its own" };
    if average.combine == Combine::Vote {
        return format!("each with a model of its own that votes{start}");
    }
    let when = match average.sync {
        Sync::Epoch => "every epoch".into(),
        Sync::Steps(1) => "every step".into(),
        Sync::Steps(steps) => format!("every {}", counted(steps, "step")),
        Sync::Rounds(1) => "once at the end".into(),
        Sync::Rounds(rounds) => format!("{rounds} times"),
    };
    let outer = average.outer.map_or_else(String::new, |outer| {
        format!(" with momentum {} at {}", outer.momentum, outer.learning_rate)
    });
    format!("weights averaged {when}{outer}{start}")
}

fn served(servers: &ParameterServer) -> String {
    let count = counted(servers.servers as u64, "server");
    match (servers.mode, servers.replicas_to_aggregate) {
        (Mode::Async, _) => format!("gradients pushed to {count} as they come"),
        (Mode::Sync, None) => format!("gradients averaged every step by {count}"),
        (Mode::Sync, Some(replicas)) => {
            format!("{} averaged every step by {count}", counted(replicas as u64, "gradient"))
        }
    }
}
