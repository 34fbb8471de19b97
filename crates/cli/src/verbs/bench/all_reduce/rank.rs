//! One of the processes that sum.

use std::io::BufRead;
use std::sync::Arc;

use anyhow::{Context, anyhow, ensure};
use collective::{Access, Contact, Group, Layout, Note, Part, Port, Reach, Seat, Secret, Sockets};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use train::Clock;

use super::{Link, Task};
use crate::failure::Failure;
use crate::output;

/// What a rank found.
#[derive(Serialize, Deserialize)]
pub(super) struct Found {
    /// How long each all-reduce took.
    pub(super) seconds: Vec<f64>,
    /// What it sent in one.
    pub(super) bytes_sent: u64,
}

/// Takes part as it is told through standard input.
pub(super) fn serve(task: Task, me: usize) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let found = runtime.block_on(async {
        let mut group = meet(task, me).await?;
        sum(task, me, &mut group).await
    })?;
    output::json(&found)
}

async fn meet(task: Task, me: usize) -> anyhow::Result<Group> {
    let secret: String = hear()?;
    let secret = Secret::from_hex(&secret).map_err(|_| anyhow!("that is no secret"))?;
    let access = if task.tls { Access::secure(secret) } else { Access::plain(secret) };
    let reach = match task.link {
        Link::Shm => Reach::Anywhere,
        Link::Tcp => Reach::Network,
    };
    let refused = Arc::new(output::talk);
    let port = Port::open(Arc::new(Sockets), "127.0.0.1:0", access, reach, refused).await?;
    output::print(&serde_json::to_string(&port.contact())?);
    let contacts: Vec<Contact> = hear()?;
    let seat = |(rank, contact)| Seat { process: rank as u32, contact, ranks: vec![rank] };
    let seats: Vec<Seat> = contacts.into_iter().enumerate().map(seat).collect();
    ensure!(me < seats.len() && seats.len() == task.ranks, "rank {me} of {} is none", seats.len());
    let layout = Layout { generation: 1, world: task.ranks, seats, me, len: task.len };
    let group = port.form(layout, watch::channel(1).1).await?;
    let (wanted, link) = (task.link.name(), group.link());
    ensure!(
        task.ranks == 1 || link == wanted,
        "processes of this machine cannot exchange numbers through {wanted}, only through {link}; \
         choose another --link"
    );
    Ok(group)
}

async fn sum(task: Task, me: usize, group: &mut Group) -> anyhow::Result<Found> {
    let clock = Clock::system();
    // Where a training step would put its gradients.
    let mut slot = group.slot(me);
    // Small whole numbers, so that their sum is exact in any order.
    let (own, all) = ((me + 1) as f32, (task.ranks * (task.ranks + 1) / 2) as f32);
    let (mut seconds, mut before) = (vec![], 0);
    for time in 0..task.warm_up + task.times {
        slot[..task.len].fill(own);
        group.barrier().await?;
        if time == task.warm_up {
            before = group.bytes_sent();
        }
        let began = clock.elapsed();
        let part = Part { values: &slot[..task.len], note: [0; size_of::<Note>()] };
        let sum = group.all_reduce(&[part]).await?;
        let took = clock.elapsed() - began;
        if time < task.warm_up {
            ensure!(
                sum.values.iter().all(|value| *value == all),
                "a sum is wrong; please report it"
            );
        } else {
            seconds.push(took.as_secs_f64());
        }
    }
    // Nobody leaves while another is still at it.
    group.barrier().await?;
    Ok(Found { seconds, bytes_sent: (group.bytes_sent() - before) / task.times })
}

/// The next line of standard input.
fn hear<T: DeserializeOwned>() -> anyhow::Result<T> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    serde_json::from_str(&line).context("rank without a bench: leave --rank out")
}
