//! HDF5 as Keras uses it: strings and lists of names as attributes, weights as datasets.

use std::collections::HashMap;

use hdf5_pure::{AttrValue, DType, File, Group, GroupBuilder};

use super::MAX_JSON;
use crate::FileProblem;
use crate::safetensors::shortened;

/// An attribute has at most 64 KiB, in which this many names have their places. Keras too writes more
/// names as several attributes.
const NAMES: usize = 2000;

/// The most names in one list: far more layers than any network has.
const MAX_NAMES: usize = 100_000;

/// Opens a file that is in memory.
pub(super) fn open(bytes: Vec<u8>) -> Result<File, FileProblem> {
    let size = bytes.len() as u64;
    let file = File::from_bytes(bytes).map_err(damaged("it is not a whole HDF5 file"))?;
    match file.superblock().eof_address {
        end if end > size => {
            Err(FileProblem::Damaged(format!("it is cut: it has {size} bytes of {end}")))
        }
        _ => Ok(file),
    }
}

/// What the reader says, with what was being read.
pub(super) fn damaged(what: &str) -> impl Fn(hdf5_pure::Error) -> FileProblem {
    move |error| FileProblem::Damaged(format!("{what}: {}", shortened(&error.to_string())))
}

/// The attributes of a group.
pub(super) struct Attributes(HashMap<String, AttrValue>);

impl Attributes {
    pub(super) fn of(group: &Group) -> Result<Self, FileProblem> {
        Ok(Attributes(group.attrs().map_err(damaged("attributes"))?))
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(AttrValue::as_str).filter(|text| text.len() <= MAX_JSON)
    }

    /// A list of names, which may be in pieces: `layer_names0`, `layer_names1`, and so on. An empty one
    /// is written as no numbers at all.
    pub(super) fn names(&self, name: &str) -> Option<Vec<String>> {
        if let Some(whole) = self.0.get(name) {
            return Some(whole.as_strings().unwrap_or_default().to_vec());
        }
        let mut names = vec![];
        for piece in 0.. {
            match self.0.get(&format!("{name}{piece}")).and_then(AttrValue::as_strings) {
                Some(more) if names.len() + more.len() <= MAX_NAMES => {
                    names.extend_from_slice(more)
                }
                _ => break,
            }
        }
        (!names.is_empty()).then_some(names)
    }
}

/// Puts a list of names onto a group, in pieces where it is long.
pub(super) fn set_names(group: &mut GroupBuilder, name: &str, names: Vec<String>) {
    if names.is_empty() {
        // As h5py writes an empty list.
        group.set_attr(name, AttrValue::F64Array(vec![]));
    } else if names.len() <= NAMES {
        group.set_attr(name, AttrValue::VarLenStringArray(names));
    } else {
        for (piece, names) in names.chunks(NAMES).enumerate() {
            group.set_attr(&format!("{name}{piece}"), AttrValue::VarLenStringArray(names.to_vec()));
        }
    }
}

/// Reads a weight into its place. `what` is the layer and the weight, for messages.
pub(super) fn read_weight(
    group: &Group,
    path: &str,
    (what, shape): (&str, &[usize]),
    values: &mut [f32],
) -> Result<(), FileProblem> {
    let set = group
        .dataset(path)
        .map_err(damaged(&format!("{what}, which is to be at {}", shortened(path))))?;
    let found = set.shape().map_err(damaged(what))?;
    let wanted: Vec<u64> = shape.iter().map(|&side| side as u64).collect();
    if found != wanted {
        let found = &found[..found.len().min(9)];
        return Err(FileProblem::Damaged(format!(
            "{what} has the shape {found:?}, and its layer needs {wanted:?}"
        )));
    }
    match set.dtype().map_err(damaged(what))? {
        DType::F32 => {}
        other => {
            let other = shortened(&other.to_string());
            return Err(FileProblem::Unsupported(format!(
                "{what} is of type {other}; only f32 is supported"
            )));
        }
    }
    let read = set.read_f32().map_err(damaged(what))?;
    if read.len() != values.len() {
        return Err(FileProblem::Damaged(format!(
            "{what} has {} numbers, and needs {}",
            read.len(),
            values.len()
        )));
    }
    values.copy_from_slice(&read);
    Ok(())
}

/// Room for all weights, if a file of so many bytes can hold them. Compressed ones take less room there,
/// though never so little.
pub(super) fn arena(parameters: usize, bytes: usize) -> Result<Vec<f32>, FileProblem> {
    if parameters / 16 > bytes {
        return Err(FileProblem::Damaged(format!(
            "its layers have {parameters} weights, which do not fit into its {bytes} bytes"
        )));
    }
    Ok(vec![0.0; parameters])
}

/// Adds a weight to a group.
pub(super) fn write_weight(group: &mut GroupBuilder, name: &str, shape: &[usize], values: &[f32]) {
    let sides: Vec<u64> = shape.iter().map(|&side| side as u64).collect();
    group.create_dataset(name).with_f32_data(values).with_shape(&sides);
}
