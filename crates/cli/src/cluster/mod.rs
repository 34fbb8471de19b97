//! Runs on Kubernetes, from outside: what `--on kubernetes` means.

mod inputs;
mod look;
mod open;
mod page;
mod pipe;
pub(crate) mod planned;
mod run;

use clap::{Args, ValueEnum};
use exec::kubernetes::{Api, connect};

use crate::failure::{Failure, OrUsage};

pub(crate) use look::{forward, get, list, remove, stop, why};
pub(crate) use open::open;
pub(crate) use run::{examine, render, run};

/// Where runs take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum On {
    /// On this machine
    #[default]
    Local,
    /// On a cluster
    Kubernetes,
}

/// Which place is meant, on a command line.
#[derive(Args)]
pub(crate) struct Place {
    /// Where the run takes place
    #[arg(long, value_name = "PLACE", default_value = "local")]
    on: On,
    /// The namespace on the cluster [default: that of the context]
    #[arg(long, short, value_name = "NAME")]
    namespace: Option<String>,
    /// The context of the kubeconfig that names the cluster [default: the current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

impl Place {
    /// Whether a cluster is meant.
    pub(crate) fn is_cluster(&self) -> bool {
        self.on == On::Kubernetes
    }

    /// The cluster that is meant.
    async fn api(&self) -> Result<Api, Failure> {
        connect(self.context.as_deref(), self.namespace.as_deref()).await.or_usage()
    }

    /// The flags that mean the same place, for advice.
    fn flags(&self) -> String {
        let option = |name: &str, value: &Option<String>| {
            value.as_ref().map_or(String::new(), |value| format!(" --{name} {value}"))
        };
        let (namespace, context) =
            (option("namespace", &self.namespace), option("context", &self.context));
        format!("--on kubernetes{namespace}{context}")
    }
}

/// Does something that waits for a cluster.
fn block_on<T>(what: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(what)
}
