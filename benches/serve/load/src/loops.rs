//! The threads that send.

#![expect(clippy::disallowed_methods, reason = "the clock is what this program measures with")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::arguments::Arguments;
use crate::arrivals;
use crate::connection::{Connection, Failure};
use crate::tally::{Moment, Tally};

/// A thread holds one request; the default of 2 MiB would be a gigabyte for 512 of them.
const STACK_BYTES: usize = 128 << 10;

pub fn run(given: &Arguments) -> Result<Tally, String> {
    let planned =
        given.rate.map(|rate| arrivals::planned(rate, given.seconds, given.spacing, given.seed));
    let next = AtomicUsize::new(0);
    let ready = Barrier::new(given.connections + 1);
    let begun = OnceLock::new();
    let mut total = Tally::default();
    thread::scope(|scope| {
        let sender = || {
            let mut connection = Connection::new(given.address);
            // All are connected before the first is to send.
            let _ = connection.open();
            ready.wait();
            let begun = *begun.get_or_init(Instant::now);
            send(given, planned.as_deref(), &Turn { begun, next: &next }, &mut connection)
        };
        let spawn = || thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, sender);
        let threads: Vec<_> = (0..given.connections).map(|_| spawn()).collect();
        if let Some(Err(problem)) = threads.iter().find(|thread| thread.is_err()) {
            // Those that did start wait at the barrier for ever.
            eprintln!("load: cannot start {} threads: {problem}", given.connections);
            std::process::exit(2);
        }
        ready.wait();
        for thread in threads.into_iter().flatten() {
            match thread.join() {
                Ok(tally) => total.add(tally),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    total.planned = planned.map_or(total.sent, |moments| moments.len() as u64);
    Ok(total)
}

/// What the threads share.
struct Turn<'a> {
    begun: Instant,
    /// The number of the next request.
    next: &'a AtomicUsize,
}

/// One connection, until the plan or the time is at its end.
fn send(
    given: &Arguments,
    planned: Option<&[Duration]>,
    turn: &Turn,
    connection: &mut Connection,
) -> Tally {
    let mut tally = Tally::default();
    loop {
        let number = turn.next.fetch_add(1, Ordering::Relaxed);
        let now = turn.begun.elapsed();
        let intended = match planned {
            Some(moments) => match moments.get(number) {
                Some(moment) => *moment,
                None => return tally,
            },
            None if now >= given.seconds => return tally,
            None => now,
        };
        thread::sleep(intended.saturating_sub(now));
        let sent = turn.begun.elapsed();
        let sent_unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let body = number % given.requests.len();
        let outcome = connection.ask(&given.requests[body]);
        // In the closed loop, a server that is gone is the end.
        let gone = planned.is_none() && matches!(outcome, Err(Failure::Refused));
        let ended = turn.begun.elapsed();
        let moment = Moment { intended, sent, sent_unix, ended, reused: connection.reused };
        tally.count(given, body, &moment, outcome);
        if gone {
            return tally;
        }
    }
}
