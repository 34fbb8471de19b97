//! The files S0's and S2's components hand to each other: `0.npz … N-1.npz` with `x` and `y`.

use std::path::{Path, PathBuf};

use spec::Assign;

use crate::error::{DataError, Result};
use crate::prepare::write_npz;
use crate::samples::Samples;
use crate::source::shard_key;
use crate::split::split;

/// Writes `n` files into `dir`, each with a shard (S2's splitter) or with everything (S0's copier),
/// and returns their paths, in order. Grey pictures are written as (n, height, width), as S2 wrote
/// them.
pub fn write_shards(
    samples: &Samples,
    n: usize,
    dir: &Path,
    assign: Assign,
    seed: u64,
) -> Result<Vec<PathBuf>> {
    let shards = match assign {
        Assign::Split => split(samples.len(), n, None, shard_key(seed))?,
        Assign::Copy if n == 0 => {
            return Err(DataError::Impossible(
                "0 copies are asked for; choose 1 or more".to_owned(),
            ));
        }
        Assign::Copy => vec![(0..samples.len() as u32).collect()],
    };
    std::fs::create_dir_all(dir).map_err(DataError::io("create", dir))?;
    refuse_strangers(dir, n)?;
    let shape = match &samples.shape[..] {
        [height, width, 1] => &[*height, *width],
        other => other,
    };
    let mut paths = Vec::new();
    for number in 0..n {
        let path = dir.join(format!("{number}.npz"));
        write_npz(&path, samples, &shards[number % shards.len()], shape)?;
        paths.push(path);
    }
    Ok(paths)
}

/// Files of an earlier, larger split would be trained on as if they belonged to this one.
fn refuse_strangers(dir: &Path, n: usize) -> Result<()> {
    let entries = std::fs::read_dir(dir).map_err(DataError::io("read", dir))?;
    for entry in entries {
        let name = entry.map_err(DataError::io("read", dir))?.file_name();
        let number =
            name.to_str().and_then(|name| name.strip_suffix(".npz")?.parse::<usize>().ok());
        if number.is_some_and(|number| number >= n) {
            return Err(DataError::Impossible(format!(
                "{} holds {} of an earlier split into more files; remove it, or choose another folder",
                dir.display(),
                name.display()
            )));
        }
    }
    Ok(())
}
