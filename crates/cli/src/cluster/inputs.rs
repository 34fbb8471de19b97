//! Files of the user's that a run reads: they are hashed here, sent once to the driver's pod, and found
//! there by their hash. So the same file is the same run, and a changed one is another.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use exec::kubernetes::{Api, Reach};
use spec::RunSpec;

use super::pipe::{Sink, Source};
use crate::failure::{Failure, OrUsage};
use crate::{output, pack, run_file};

/// Something that is sent.
pub(super) struct Input {
    files: Vec<(String, PathBuf)>,
    hash: String,
    bytes: u64,
}

/// Finds the local files that a run file names, and has it name what they will be in the pod.
pub(super) fn find(spec: &mut RunSpec) -> Result<Vec<Input>, Failure> {
    let mut inputs = vec![];
    let mut all = 0;
    for path in run_file::paths(spec) {
        let input = read(Path::new(path)).or_usage()?;
        all += input.bytes;
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
        *path = format!("{}/{}/{name}", exec::kubernetes::INPUTS_FOLDER, input.hash);
        inputs.push(input);
    }
    if all > pack::MOST_BYTES {
        let size = train::bytes(all);
        return Err(anyhow!(
            "the files that the run reads have {size}, and 2 GiB can be sent with it; put them where \
             pods can fetch them, and name that address"
        ))
        .or_usage();
    }
    Ok(inputs)
}

fn read(path: &Path) -> anyhow::Result<Input> {
    let files = pack::files(path)?;
    let mut bytes = 0;
    for (_, path) in &files {
        bytes += std::fs::metadata(path)?.len();
    }
    let hash = pack::send(&files, &mut std::io::sink())?;
    Ok(Input { files, hash, bytes })
}

/// Sends what the driver waits for.
pub(super) async fn send(api: &Api, run: &str, inputs: &[Input]) -> Result<(), Failure> {
    if inputs.is_empty() {
        return Ok(());
    }
    let reach = Reach::of_driver(api, run).await?;
    for input in inputs {
        output::talk(&format!("sending {} to the driver", train::bytes(input.bytes)));
        let (reader, mut writer) = std::io::pipe()?;
        let files = input.files.clone();
        let sender = std::thread::spawn(move || pack::send(&files, &mut writer));
        let folder = format!("{}/{}", exec::kubernetes::INPUTS_FOLDER, input.hash);
        let arguments = ["unpack", &folder, "--sha256", &input.hash];
        let mut source = Source(reader);
        let ends = (&mut Sink(std::io::stdout()) as _, &mut Sink(std::io::stderr()) as _);
        let code = reach.call(&arguments, Some(&mut source), ends).await?;
        drop(source);
        let sent = sender.join().map_err(|_| anyhow!("sending broke off"))?;
        if code != 0 {
            return Err(sent
                .map_or_else(|error| error, |_| anyhow!("the driver did not take it"))
                .into());
        }
        sent.context("sending files")?;
    }
    Ok(())
}
