//! `trainyard serve`: a model behind HTTP, with a page where people try it.

mod follow;
mod source;

use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serve::{Combine, Gather, Limits, Server, Settings, Token};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::env::Env;
use crate::failure::{Failure, OrUsage};
use crate::output;
use source::Source;

/// Where people expect a page, if nobody else is there.
const PORT: u16 = 8080;

/// Serve a model with a web page
///
/// The page fits the model: a digit is drawn, a review written, pictures and faces are dropped. Programs ask
/// POST /v1/predict, as /openapi.json says. Several models answer together. What is served follows the names
/// that were given: a newer model of a run, or a file that was replaced, is served as soon as it is there, and
/// at once on SIGHUP. Only this machine can reach it, unless --host says otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  trainyard serve mnist-sample
  trainyard serve my.h5 --port 9000
  trainyard serve models/ --combine mean
  trainyard serve faces --gallery people/
  trainyard serve mnist-sample --host 0.0.0.0 --token-file token")]
pub(crate) struct Args {
    /// Runs, model files, ensembles, or folders of model files
    #[arg(required = true)]
    models: Vec<String>,
    /// The port [default: 8080, or any other if that is taken]
    #[arg(long)]
    port: Option<u16>,
    /// The address to listen at; any but this machine's own needs --token-file
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// A file with the token that whoever asks must know; it is made where there is none
    #[arg(long)]
    token_file: Option<PathBuf>,
    /// Of a model for faces: a folder with a folder of pictures for each person
    #[arg(long)]
    gallery: Option<PathBuf>,
    /// How several models answer together
    #[arg(long, value_enum, default_value_t = By::Vote)]
    combine: By,
    /// Samples that are computed at a time, at most
    #[arg(long, default_value_t = Gather::default().batch)]
    batch: usize,
    /// Milliseconds that a request waits for others to be computed with
    #[arg(long, default_value_t = 0)]
    wait: u64,
    /// Requests that may wait; further ones are told to come again
    #[arg(long, default_value_t = Limits::default().queue)]
    queue: usize,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum By {
    /// By the mean of all probabilities
    Mean,
    /// By vote
    Vote,
}

pub(crate) fn act(args: &Args, env: &Env) -> Result<(), Failure> {
    let address = listened(&args.host, args.port)?;
    let token = match (&args.token_file, address.ip().is_loopback()) {
        (Some(file), _) => Some(token(file).or_usage()?),
        (None, true) => None,
        (None, false) => {
            let host = &args.host;
            return Err(Failure::Usage(anyhow!(
                "--host {host} lets others ask, and these need a token; add --token-file FILE, which is \
                 made where there is none"
            )));
        }
    };
    let source = Source {
        names: args.models.clone(),
        combine: match args.combine {
            By::Mean => Combine::Mean,
            By::Vote => Combine::Vote,
        },
        batch: args.batch,
        gallery: args.gallery.clone(),
        env: env.clone(),
    };
    let version = source.version();
    let served = source.load()?;
    let settings = Settings {
        token,
        limits: Limits { queue: args.queue.max(1), ..Limits::default() },
        gather: Gather { batch: args.batch.max(1), moment: Duration::from_millis(args.wait) },
        processors: env.threads,
        isa: env.isa(),
    };
    let here = Builder::new_multi_thread()
        .worker_threads(env.threads.clamp(1, 4))
        .thread_name("http")
        .enable_all()
        .build()
        .context("cannot start a thread")?;
    let listener = here.block_on(async {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && args.port.is_none() => {
                TcpListener::bind(SocketAddr::new(address.ip(), 0)).await
            }
            bound => bound,
        }
    });
    let listener = listener.with_context(|| format!("cannot listen at {address}"))?;
    let name = served.about().name.clone();
    let server = Server::new(listener, settings, served)?;
    output::talk(&format!("serving {name} at {}", server.link(&shown(&args.host))?));
    let orders = follow::start(source, version)?;
    if !here.block_on(server.run(orders)) {
        output::talk("some answers took too long and were given up");
    }
    here.shutdown_background();
    Ok(())
}

/// The name that a person on this machine reaches the server by.
fn shown(host: &str) -> String {
    match host {
        "0.0.0.0" => "127.0.0.1".into(),
        "::" => "::1".into(),
        other => other.into(),
    }
}

fn listened(host: &str, port: Option<u16>) -> Result<SocketAddr, Failure> {
    let found = (host, port.unwrap_or(PORT)).to_socket_addrs().ok().and_then(|mut all| all.next());
    found.ok_or_else(|| Failure::Usage(anyhow!("--host {host}: no such address; try 127.0.0.1")))
}

/// The token in a file, which is made where there is none.
fn token(file: &Path) -> anyhow::Result<Token> {
    let shown = file.display();
    match std::fs::read_to_string(file) {
        Ok(text) => Token::new(&text).map_err(|problem| anyhow!("{shown}: {problem}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let token = Token::fresh();
            store::publish_private(file, format!("{}\n", token.reveal()).as_bytes())?;
            output::talk(&format!("a token was made: {shown}"));
            Ok(token)
        }
        Err(error) => bail!("cannot read {shown}: {error}"),
    }
}
