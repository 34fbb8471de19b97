//! `trainyard report`: what came out of a run.

use train::Report;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output, report_text};

/// Print what came out of a run
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard report mnist-sample
  trainyard report mnist-sample --json | jq .metrics.test.accuracy")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        let flags: &[&str] = if args.json { &["--json"][..] } else { &[] };
        return cluster::forward(&args.place, "report", &args.run, flags);
    }
    let (run, standing) = find::run(&args.run, env)?;
    let state = find::true_state(&run, &standing);
    let path = crate::env::absolute(&run.path)?;
    let mut report = Report::of(&run.id(), &path, &standing, &find::plan(&run)?);
    report.state = state;
    report.reason = find::true_reason(&standing, state);
    if args.json {
        return output::json(&report);
    }
    output::print(&report_text::closing(&report, &args.run));
    Ok(())
}
