//! `trainyard render`: a run's objects on Kubernetes, as they would be made.

use crate::cluster;
use crate::env::Env;
use crate::failure::Failure;
use crate::run_file::RunFile;

/// Print the Kubernetes objects of a run, to be applied as they are
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard render mnist.yaml --image registry.example/trainyard:0.1 | kubectl apply -f -")]
pub(crate) struct Args {
    #[command(flatten)]
    file: RunFile,
    /// The image of every pod
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// The namespace that they are made in
    #[arg(long, short, value_name = "NAME", default_value = "default")]
    namespace: String,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    cluster::render((args.file.spec()?, args.image.as_deref()), &args.namespace, env)
}
