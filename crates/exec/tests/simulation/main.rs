//! The driver and the processes of a run in a simulation: the very code of `trainyard run` and
//! `trainyard worker`, on machines, a network and a clock that are made up. From a seed follows what
//! goes wrong and when: processes and drivers die, links are cut, slow, or lose what is sent, processes
//! come twice, late, or by themselves, are asked to leave, and the run is stopped and taken up again.
//! Whatever happens, the run must end, and end with what an undisturbed one ends with.
//!
//! `cargo test -p trainyard-exec --test simulation` plays some seeds; `-- --seeds 2000` plays more, from
//! `--from` on; and `-- --seed 17` plays one alone and tells what happened.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stdout, reason = "a test tells what it found")]

mod check;
mod faults;
mod launcher;
mod material;
mod net;
mod play;
mod roles;
mod yard;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use check::Counts;
use material::Material;

/// How many seeds are played unless told otherwise.
const SEEDS: u64 = 200;
/// How many of them are played twice, to see that a seed decides everything.
const REPEATED: u64 = 5;
const THREADS: u64 = 2;

/// What the command line asks for.
struct Wish {
    from: u64,
    seeds: u64,
    /// Whether to tell what happens.
    aloud: bool,
}

fn main() -> ExitCode {
    let Some(wish) = wish() else {
        println!("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out");
        return ExitCode::SUCCESS;
    };
    let clock = train::Clock::system();
    play::listen_for_panics();
    let material = Material::new();
    let next = AtomicU64::new(wish.from);
    let (failed, counts) = (Mutex::new(vec![]), Mutex::new(Counts::default()));
    let end = wish.from + wish.seeds;
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(wish.seeds) {
            scope.spawn(|| {
                while let Some(seed) =
                    Some(next.fetch_add(1, Ordering::SeqCst)).filter(|s| *s < end)
                {
                    let repeated = wish.aloud || seed < wish.from + REPEATED;
                    match material.try_seed(seed, repeated, wish.aloud) {
                        Ok(happened) => *counts.lock().unwrap() += happened,
                        Err(problem) => {
                            println!("seed {seed}: {problem}\n    {}", replay(seed));
                            failed.lock().unwrap().push(seed);
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    println!("{} runs: {}", wish.seeds, counts.into_inner().unwrap());
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    println!(
        "test result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out; \
         finished in {:.2}s",
        wish.seeds - failed.len() as u64,
        failed.len(),
        clock.elapsed().as_secs_f64()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay(seed: u64) -> String {
    format!("replay it with: cargo test -p trainyard-exec --test simulation -- --seed {seed}")
}

/// Reads the command line. None means that these tests are not meant. What is meant for other tests is
/// passed over.
fn wish() -> Option<Wish> {
    let mut wish = Wish { from: 0, seeds: SEEDS, aloud: false };
    let mut arguments = std::env::args().skip(1);
    let mut is_meant = true;
    while let Some(argument) = arguments.next() {
        let mut number =
            || arguments.next().and_then(|n| n.parse().ok()).expect("a number follows");
        match argument.as_str() {
            "--seeds" => wish.seeds = number(),
            "--from" => wish.from = number(),
            "--seed" => wish = Wish { from: number(), seeds: 1, aloud: true },
            "--list" | "--ignored" => return None,
            name if !name.starts_with('-') => is_meant = "simulation".contains(name),
            _ => {}
        }
    }
    is_meant.then_some(wish)
}
