//! A page on a cluster comes to this machine: connections to a port here are forwarded to a pod through the API
//! server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use exec::kubernetes::PageReach;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::look::resolve;
use super::{Place, block_on};
use crate::failure::Failure;
use crate::output;
use crate::serving::{self, link};

/// How long a page may take to come: its image may have to be fetched.
const COMING: Duration = Duration::from_secs(600);
/// How long a page may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How many connections are forwarded at a time. A browser has six.
const MOST: usize = 64;
/// How long is waited after a connection could not be taken.
const RETRY: Duration = Duration::from_millis(50);

/// Brings the page of a run here, until somebody asks to end. `browse` is told where it is.
pub(crate) fn open(
    place: &Place,
    run: &str,
    port: Option<u16>,
    browse: &dyn Fn(&str),
) -> Result<(), Failure> {
    block_on(async {
        let api = place.api().await?;
        let run = resolve(&api, run).await?;
        let reach = PageReach::find(&api, &run).await?;
        let mut tell = |why: &str| output::talk(&format!("the page waits: {why}"));
        let ready = timeout(COMING, reach.until_ready(&mut tell)).await;
        ready.map_err(|_| {
            let namespace = &api.namespace;
            anyhow!("no pod of the page of {run} takes requests; look at its pods in namespace {namespace}")
        })??;
        let here = serving::listen_here(port).await?;
        let address = here.local_addr().context("the port has no address")?;
        let path = timeout(ANSWER, ask_link(&reach, &address.to_string())).await;
        let path = path.context("the page does not answer")??;
        end_on_signals()?;
        let link = format!("http://{address}{path}");
        output::talk(&format!("{run} is at {link}"));
        browse(&link);
        forward(&here, &reach).await
    })
}

/// A path that opens the page once.
async fn ask_link(reach: &PageReach, host: &str) -> Result<String, Failure> {
    let mut stream = reach.connect().await?;
    stream.write_all(link::request(host, Some(&reach.token)).as_bytes()).await?;
    let mut answer = vec![];
    stream.take(link::MOST_BYTES).read_to_end(&mut answer).await?;
    Ok(link::path(&answer)?)
}

/// Forwards every connection to a pod that takes requests then.
async fn forward(here: &TcpListener, reach: &PageReach) -> Result<(), Failure> {
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let permit = room.clone().acquire_owned().await.context("nobody closes it")?;
        let Ok((stream, _)) = here.accept().await else {
            sleep(RETRY).await;
            continue;
        };
        let reach = reach.clone();
        tokio::spawn(async move {
            if let Err(error) = forward_one(stream, &reach).await {
                error.tell();
            }
            drop(permit);
        });
    }
}

async fn forward_one(mut stream: TcpStream, reach: &PageReach) -> Result<(), Failure> {
    let mut pod = reach.connect().await?;
    // How either end goes away is its own affair.
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut pod).await;
    Ok(())
}

/// The page stays on the cluster; only the way to it ends.
fn end_on_signals() -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            std::process::exit(0);
        }
    });
    Ok(())
}
