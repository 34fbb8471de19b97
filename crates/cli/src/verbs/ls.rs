//! `trainyard ls`: the runs there are.

use serde::Serialize;
use store::Runs;
use train::{Standing, State, duration, read_events};

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::{find, output};

/// List runs
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard ls
  trainyard ls --json | jq '.[] | select(.state == \"done\")'")]
pub(crate) struct Args {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: Place,
}

#[derive(Serialize)]
struct Row {
    run: String,
    state: State,
    seconds: f64,
    accuracy: Option<f64>,
    path: String,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    if args.place.is_cluster() {
        return cluster::list(&args.place, args.json);
    }
    let mut rows = vec![];
    for run in Runs::new(&env.runs).list()? {
        // One unreadable run must not hide the others.
        let events = read_events(&run.events()).unwrap_or_else(|error| {
            output::talk(&format!("cannot read {}: {error}", run.id()));
            vec![]
        });
        let standing = Standing::of(&events);
        rows.push(Row {
            run: run.id(),
            state: find::true_state(&run, &standing),
            seconds: standing.seconds(),
            accuracy: accuracy(&standing),
            path: run.path.display().to_string(),
        });
    }
    if args.json {
        return output::json(&rows);
    }
    if rows.is_empty() {
        output::talk(&format!("no runs in {}", env.runs.display()));
        return Ok(());
    }
    let mut lines = vec![["RUN", "STATE", "TIME", "TEST ACCURACY"].map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let accuracy = row.accuracy.map_or("-".into(), |accuracy| format!("{accuracy:.4}"));
        vec![row.run.clone(), row.state.as_str().into(), duration(row.seconds), accuracy]
    }));
    output::print(&output::table(&lines));
    Ok(())
}

/// Of the newest model, on the test split.
fn accuracy(standing: &Standing) -> Option<f64> {
    let model = standing.models.get(standing.newest_model.as_ref()?)?;
    Some(model.evaluated.get("test")?.accuracy)
}
