//! Reads a run file, with what the command line changes in it.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use spec::{Action, RunSpec};

use crate::failure::{Failure, OrUsage};

/// A run file is never longer than this.
const MAX_BYTES: u64 = 1 << 20;

/// Which run file, and what is different from it this time.
#[derive(Args)]
pub(crate) struct RunFile {
    /// The run file
    file: PathBuf,
    /// Change a field for this run, as in --set train.epochs=5; paths are meant from where the file lies
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// Give the run another name
    #[arg(long)]
    name: Option<String>,
}

impl RunFile {
    /// What the file asks for, checked.
    pub(crate) fn spec(&self) -> Result<RunSpec, Failure> {
        let text = read(&self.file).or_usage()?;
        let mut sets = self.sets.clone();
        sets.extend(self.name.as_ref().map(|name| format!("name={name}")));
        let mut spec = spec::parse(&text, &self.file.display().to_string(), &sets).or_usage()?;
        let folder = self.file.parent().unwrap_or(Path::new(""));
        anchor(&mut spec, folder).or_usage()?;
        Ok(spec)
    }
}

/// What a file asks for that was checked and resolved before, and carried here.
pub(crate) fn carried(path: &Path) -> Result<RunSpec, Failure> {
    let text = read(path).or_usage()?;
    spec::parse(&text, &path.display().to_string(), &[]).or_usage()
}

fn read(path: &Path) -> Result<String> {
    let shown = path.display();
    let file = std::fs::File::open(path).with_context(|| {
        format!("cannot open the run file {shown}; `trainyard init` writes one to start from")
    })?;
    let meta = file.metadata().with_context(|| format!("cannot read {shown}"))?;
    if meta.is_dir() {
        bail!("{shown} is a folder; name a run file in it");
    }
    let mut bytes = vec![];
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {shown}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("{shown} has more than {MAX_BYTES} bytes, and a run file has not");
    }
    String::from_utf8(bytes).ok().with_context(|| {
        format!("{shown} is not text; a run file is YAML, as `trainyard init` writes it")
    })
}

/// The paths that a spec names of what a run reads.
pub(crate) fn paths(spec: &mut RunSpec) -> Vec<&mut String> {
    let mut paths = vec![];
    for step in &mut spec.steps {
        match &mut step.action {
            Action::Prepare(prepare) => {
                let data = &mut prepare.data;
                let builtin = spec::BUILTIN_DATA.contains(&data.from.as_str());
                let from = Some(&mut data.from).filter(|from| !builtin && !from.contains("://"));
                paths.extend(from);
                paths.extend(data.mirror.as_mut().filter(|mirror| !mirror.contains("://")));
                paths.extend(&mut data.vocabulary);
            }
            Action::Train(train) => {
                paths.extend(train.model.file_mut());
            }
            Action::Evaluate(_) => {}
            Action::Serve(serve) => paths.extend(&mut serve.gallery),
        }
    }
    paths
}

/// The paths that a spec names of what stays on this machine.
fn own_paths(spec: &mut RunSpec) -> impl Iterator<Item = &mut String> {
    spec.steps
        .iter_mut()
        .flat_map(|step| match &mut step.action {
            Action::Serve(serve) => [serve.token_file.as_mut(), serve.examples.as_mut()],
            _ => [None, None],
        })
        .flatten()
}

/// Makes paths in the file absolute. They are meant from where the file lies, and tasks run elsewhere.
fn anchor(spec: &mut RunSpec, folder: &Path) -> Result<()> {
    let anchored = |path: &mut String| -> Result<()> {
        *path = crate::env::absolute(&folder.join(&*path))?.display().to_string();
        Ok(())
    };
    paths(spec).into_iter().try_for_each(anchored)?;
    own_paths(spec).try_for_each(anchored)
}
