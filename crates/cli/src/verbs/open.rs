//! `trainyard open`: brings a run's page to the user's browser.

use anyhow::anyhow;
use model::Published;

use crate::cluster::{self, Place};
use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::serving::{self, Page};
use crate::{browser, find, output};

/// Open the page of a run in the browser
///
/// On a cluster the page comes here through the API server: nothing but the kubeconfig is needed, and only this
/// machine can reach it. On this machine the page that is shown is opened, or else the run's model is served as its
/// file says. Ctrl-C ends it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard open mnist-sample
  trainyard open mnist-1 --on kubernetes --no-browser")]
pub(crate) struct Args {
    /// A run: its name (the newest of that name), name-number, or path
    run: String,
    /// The port on this machine [default: 8080, or any other if that is taken]
    #[arg(long)]
    port: Option<u16>,
    /// Print the address only
    #[arg(long)]
    no_browser: bool,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let browse = |address: &str| {
        if !args.no_browser {
            browser::open(address);
        }
    };
    if args.place.is_cluster() {
        return cluster::open(&args.place, &args.run, args.port, &browse);
    }
    let (run, _) = find::run(&args.run, env)?;
    if let Some(link) = serving::shown(&run) {
        output::talk(&format!("{} is at {link}", run.id()));
        browse(&link);
        return Ok(());
    }
    let (page, model) = match find::plan(&run)?.serving {
        Some(serving) => (Page::asked(&serving.serve), run.model(&serving.model)),
        None => {
            let model = find::model_path(&args.run, env)?;
            (Page::asked(&spec::Serve::default()), model)
        }
    };
    if !Published::is_at(&model) {
        let run = run.id();
        return Err(anyhow!("{run} has published no model yet; see `trainyard status {run}`"))
            .or_usage();
    }
    let page = Page { port: args.port.or(page.port), ..page }.of(&model).of_run(&run);
    page.show(env, &|link| {
        browse(link);
        true
    })
}
