//! `trainyard bench all-reduce`: how long processes of this machine take to sum what each of them has.
//!
//! This program starts itself once for each rank, with a hidden argument. A rank reads the secret from
//! its standard input, prints where it can be reached, reads where all can be, and then sums with them
//! over and over. Before each time it writes its values anew and all meet, which is not counted.

mod rank;
mod ranks;

use anyhow::anyhow;
use clap::ValueEnum;
use serde::Serialize;
use spec::Bytes;

use crate::failure::{Failure, OrUsage};
use crate::output;
use rank::Found;

/// The bytes that are summed in all, about: small slices are summed more often.
const WORK: u64 = 2 << 30;
/// How often a slice is summed, whatever its size: at least and at most.
const TIMES: (u64, u64) = (21, 2000);

/// Sum a slice over several processes and print how long that takes
///
/// The time is that of one all-reduce as the first process sees it: the median of many, after a
/// warm-up in which every sum is checked.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard bench all-reduce --size 1MiB --ranks 2 --link shm
  trainyard bench all-reduce --size 100MiB --link tcp --tls --json")]
pub(crate) struct Args {
    /// How many bytes each process has, as 32-bit floats
    #[arg(long, default_value = "1MiB")]
    size: Bytes,
    /// How many processes
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    ranks: u16,
    /// What they exchange numbers through
    #[arg(long, value_enum, default_value_t = Link::Shm)]
    link: Link,
    /// Encrypt what goes over connections, as runs do
    #[arg(long)]
    tls: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Be one of the processes
    #[arg(long, hide = true)]
    rank: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Link {
    /// Shared memory
    Shm,
    /// Connections
    Tcp,
}

/// What is to be summed, and how.
#[derive(Clone, Copy)]
struct Task {
    /// How many floats.
    len: usize,
    ranks: usize,
    link: Link,
    tls: bool,
    /// How often it is timed.
    times: u64,
    /// How often before that.
    warm_up: u64,
}

#[derive(Serialize)]
struct Speed {
    size: u64,
    ranks: usize,
    link: Link,
    tls: bool,
    times: u64,
    /// The median.
    seconds: f64,
    best_seconds: f64,
    /// Of the slice, in the median time.
    bytes_per_second: f64,
    /// What one process sends to others each time.
    bytes_sent: u64,
}

pub(crate) fn act(args: &Args) -> Result<(), Failure> {
    let task = task(args)?;
    if let Some(rank) = args.rank {
        return rank::serve(task, usize::from(rank));
    }
    let speed = speed(&task, ranks::measure(&task)?);
    if args.json {
        return output::json(&speed);
    }
    output::print(&format!(
        "{} over {} processes through {}{}: {:.3} ms ({:.3} ms at best), {}/s",
        train::bytes(speed.size),
        speed.ranks,
        task.link.name(),
        if speed.tls { " with TLS" } else { "" },
        speed.seconds * 1e3,
        speed.best_seconds * 1e3,
        train::bytes(speed.bytes_per_second as u64)
    ));
    Ok(())
}

fn task(args: &Args) -> Result<Task, Failure> {
    let Args { size: Bytes(size), ranks, link, tls, .. } = *args;
    if !(4..=4 << 30).contains(&size) || !size.is_multiple_of(4) {
        let problem = "a slice has 4 bytes to 4 GiB, and whole floats of 4 bytes";
        return Err(anyhow!("--size {}: {problem}", args.size)).or_usage();
    }
    if tls && link == Link::Shm {
        let problem = "what lies in shared memory is not encrypted; add --link tcp";
        return Err(anyhow!("--tls: {problem}")).or_usage();
    }
    let times = (WORK / size / u64::from(ranks)).clamp(TIMES.0, TIMES.1);
    let (len, ranks) = (size as usize / size_of::<f32>(), usize::from(ranks));
    Ok(Task { len, ranks, link, tls, times, warm_up: times.div_ceil(10).max(3) })
}

fn speed(task: &Task, Found { mut seconds, bytes_sent }: Found) -> Speed {
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let size = (task.len * size_of::<f32>()) as u64;
    Speed {
        size,
        ranks: task.ranks,
        link: task.link,
        tls: task.tls,
        times: task.times,
        seconds: median,
        best_seconds: seconds[0],
        bytes_per_second: size as f64 / median,
        bytes_sent,
    }
}

impl Link {
    fn name(self) -> &'static str {
        match self {
            Link::Shm => "shm",
            Link::Tcp => "tcp",
        }
    }
}
