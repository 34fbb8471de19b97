//! `trainyard doctor`: whether a run could take place, looked at before it is begun.

use anyhow::anyhow;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::Failure;
use crate::run_file::RunFile;
use crate::{facts, output};

/// Check that a run file could be run here or on a cluster, and say what to ask for
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard doctor mnist.yaml
  trainyard doctor mnist.yaml --on kubernetes --image registry.example/trainyard:0.1")]
pub(crate) struct Args {
    #[command(flatten)]
    file: RunFile,
    #[command(flatten)]
    place: Place,
    /// The image of every pod on the cluster
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let spec = args.file.spec()?;
    if !args.place.is_cluster() {
        let (plan, _) = facts::plan(&spec, env)?;
        facts::check_memory(&plan, env)?;
        output::print(&format!(
            "the file is right, and its tasks fit into the {} of memory that can be had",
            train::bytes(env.memory)
        ));
        return Ok(());
    }
    let findings = cluster::examine(&args.place, (spec, args.image.as_deref()), env)?;
    let rows: Vec<_> = findings
        .iter()
        .map(|it| {
            let (word, text) = match &it.wrong {
                Some(advice) => ("wrong", advice),
                None => ("right", &it.found),
            };
            vec![word.to_owned(), it.about.to_owned(), text.clone()]
        })
        .collect();
    output::print(&output::table(&rows));
    match findings.iter().filter(|it| it.wrong.is_some()).count() {
        0 => Ok(()),
        wrong => Err(anyhow!("{wrong} of {} are not right", findings.len()).into()),
    }
}
