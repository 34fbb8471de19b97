//! Faces of known people, for verbs that look somebody up: `serve` and `predict`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serve::{Gallery, Kind, Served};
use sha2::{Digest, Sha256};

use crate::env::{Env, absolute};
use crate::failure::{Failure, OrUsage};
use crate::output;

/// A model with the faces of a folder to compare with. Their embeddings are kept in the cache.
pub(crate) fn add(served: Served, folder: &Path, env: &Env) -> Result<Served, Failure> {
    if served.about().kind != Kind::Faces {
        let problem = "a gallery is for a model of faces, which this is not; leave it out";
        return Err(Failure::Usage(anyhow!(problem)));
    }
    let kept = kept(folder, env)?;
    let tell = |line: &str| output::talk(line);
    let gallery = Gallery::open(folder, &served, &kept, env.isa(), tell);
    let gallery =
        gallery.with_context(|| format!("the gallery {}", folder.display())).or_usage()?;
    served
        .with_gallery(gallery)
        .map_err(|problem| Failure::Usage(anyhow!("the gallery: {problem}")))
}

/// Where the embeddings of a gallery are kept.
fn kept(folder: &Path, env: &Env) -> anyhow::Result<PathBuf> {
    let folder = absolute(folder)?;
    let name = store::hex(&Sha256::digest(folder.as_os_str().as_encoded_bytes())[..8]);
    Ok(env.surroundings.cache.join("galleries").join(format!("{name}.json")))
}
