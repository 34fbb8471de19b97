//! What the program does for `--on kubernetes` inside pods. People do not call these.

use std::net::ToSocketAddrs as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::failure::Failure;
use crate::{output, pack};

/// How long a pod stays that only shows what a run has left.
const STAYS: Duration = Duration::from_secs(15 * 60);

/// Write files to standard output
#[derive(clap::Args)]
pub(crate) struct Pack {
    /// A file or a folder
    path: PathBuf,
}

/// Receive files from standard input
#[derive(clap::Args)]
pub(crate) struct Unpack {
    /// The folder that they go into, which is there once all of them are
    folder: PathBuf,
    /// Their hash
    #[arg(long)]
    sha256: String,
}

/// Stay for a while and do nothing
#[derive(clap::Args)]
pub(crate) struct Rest {
    /// For how many seconds
    #[arg(long, default_value_t = STAYS.as_secs())]
    seconds: u64,
}

/// Look a name up
#[derive(clap::Args)]
pub(crate) struct Probe {
    /// The name
    name: String,
}

pub(crate) fn probe(args: &Probe) -> Result<(), Failure> {
    let name = &args.name;
    let found = (name.as_str(), 443).to_socket_addrs();
    let found = found.with_context(|| format!("the name {name} is not known in pods"))?;
    let addresses: Vec<String> = found.map(|address| address.ip().to_string()).collect();
    output::print(&format!("{name} is {}", addresses.join(", ")));
    Ok(())
}

pub(crate) fn pack(args: &Pack) -> Result<(), Failure> {
    let files = pack::files(&args.path)?;
    pack::send(&files, &mut std::io::stdout().lock())?;
    Ok(())
}

pub(crate) fn unpack(args: &Unpack) -> Result<(), Failure> {
    let shown = args.folder.display();
    if args.folder.exists() {
        output::talk(&format!("{shown} is there already"));
        return Ok(());
    }
    let above = args.folder.parent().context("a folder has a parent")?;
    std::fs::create_dir_all(above).with_context(|| format!("cannot make {}", above.display()))?;
    // It gets its name when all of it is there.
    let partial =
        tempfile::tempdir_in(above).with_context(|| format!("cannot write to {shown}"))?;
    let hash = pack::receive(&mut std::io::stdin().lock(), partial.path())?;
    if hash != args.sha256 {
        return Err(anyhow!("other files came than were announced").into());
    }
    std::fs::rename(partial.keep(), &args.folder)
        .with_context(|| format!("cannot make {shown}"))?;
    Ok(())
}

pub(crate) fn rest(args: &Rest) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            std::process::exit(0);
        }
    });
    std::thread::sleep(Duration::from_secs(args.seconds));
    Ok(())
}
