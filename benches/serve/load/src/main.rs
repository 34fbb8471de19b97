//! Sends uploads to a server at a given rate, whatever the server does, and tells how it fared.
//!
//! The open loop: arrivals are planned beforehand, and a request's latency counts from the moment it was
//! planned for, so that a slow server cannot hide by slowing us down. Each connection is a thread that takes
//! the next arrival, waits for its moment, sends, and reads the answer. With enough connections there is
//! always one free; how often there was none is told.
//!
//! Without a rate the loop is closed: every connection sends as soon as it has its answer.

mod arguments;
mod arrivals;
mod connection;
mod loops;
mod tally;

use std::process::ExitCode;

use arguments::Arguments;

fn main() -> ExitCode {
    let outcome = Arguments::parse(std::env::args().skip(1)).and_then(|given| {
        let tally = loops::run(&given)?;
        if let Some(file) = &given.answers {
            let told = std::fs::write(file, tally.answers_as_lines());
            told.map_err(|problem| format!("cannot write {file}: {problem}"))?;
        }
        Ok(tally.as_json(&given))
    });
    match outcome {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("load: {problem}");
            ExitCode::from(2)
        }
    }
}
