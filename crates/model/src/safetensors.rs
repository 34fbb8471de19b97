//! The `.safetensors` format, as the community reads it: eight bytes that say how long the header is,
//! the header as JSON, and the numbers. `docs/decisions/0003-model-files.md` says why the codec is our
//! own.
//!
//! The header names every tensor with its type, shape and place; `__metadata__` in it holds strings,
//! two of which make the file a model: `trainyard.graph` and `trainyard.card`. We write the tensors in
//! the order of the arena, so that the data is the arena itself. We read them in any order, since other
//! programs sort by name.
//!
//! Nothing a header says is believed before it has been checked against the file's true size and
//! against the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::hash::for_each_block;
use crate::{Card, FileProblem, Graph, Model};

/// The most bytes of header that are read. Ours have a few thousand, and a hundred thousand where a
/// vocabulary is among them; the format allows 100 MB.
const MAX_HEADER: u64 = 16 << 20;

pub(crate) const GRAPH: &str = "trainyard.graph";
pub(crate) const CARD: &str = "trainyard.card";

/// One tensor in the header.
#[derive(Serialize, Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    /// First byte and the one after the last, counted from the end of the header.
    data_offsets: [u64; 2],
}

#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__", default)]
    metadata: BTreeMap<String, String>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Tensor>,
}

/// Writes a model.
pub(crate) fn write(model: &Model, mut out: impl Write) -> io::Result<()> {
    let header = header_text(model)?;
    if header.len() as u64 > MAX_HEADER {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the model's layers and card take more than {MAX_HEADER} bytes"),
        ));
    }
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for_each_block(&model.weights, |bytes| out.write_all(bytes))
}

/// The header, its keys always in the same order, padded so that the numbers begin at a multiple of
/// eight as readers that map the file into memory like it.
fn header_text(model: &Model) -> io::Result<String> {
    let metadata = BTreeMap::from(model.texts()?);
    let mut text = format!("{{\"__metadata__\":{}", serde_json::to_string(&metadata)?);
    for weight in model.graph.weights() {
        let tensor = Tensor {
            dtype: "F32".into(),
            shape: weight.shape.clone(),
            data_offsets: [weight.range.start, weight.range.end].map(|at| 4 * at as u64),
        };
        let name = serde_json::to_string(&weight.name)?;
        let tensor = serde_json::to_string(&tensor)?;
        write!(text, ",{name}:{tensor}").expect("a string takes all that is written to it");
    }
    text.push('}');
    let padding = text.len().next_multiple_of(8) - text.len();
    text.extend(std::iter::repeat_n(' ', padding));
    Ok(text)
}

/// Reads a model from a source of `size` bytes.
pub(crate) fn read(mut source: impl Read, size: u64) -> Result<Model, FileProblem> {
    let header_len = header_len(&mut source, size)?;
    let mut text = vec![0; header_len as usize];
    exactly(&mut source, &mut text)?;
    let header: Header = serde_json::from_slice(&text).map_err(|error| {
        let error = shortened(&error.to_string());
        FileProblem::NotAModel(format!("its header is not a safetensors header: {error}"))
    })?;
    let graph = graph_of(&header)?;
    let card = header.metadata.get(CARD).ok_or_else(|| {
        FileProblem::NotAModel(format!(
            "it is a safetensors file without {CARD}, so what its input means is unknown"
        ))
    })?;
    let card = card_of(card, &graph)?;
    let order = places(&header, &graph, size - 8 - header_len)?;
    let mut weights = vec![0.0; graph.parameter_count()];
    for number in order {
        let range = graph.weights()[number].range.clone();
        read_floats(&mut source, &mut weights[range])?;
    }
    Model::checked(graph, weights, card)
}

fn header_len(source: &mut impl Read, size: u64) -> Result<u64, FileProblem> {
    let mut length = [0; 8];
    exactly(source, &mut length)?;
    match u64::from_le_bytes(length) {
        len if len > MAX_HEADER => Err(FileProblem::NotAModel(format!(
            "as a safetensors file it would have a header of {len} bytes, and at most {MAX_HEADER} are read"
        ))),
        len if len + 8 > size => {
            Err(FileProblem::Damaged(format!("it ends within its header of {len} bytes")))
        }
        len => Ok(len),
    }
}

fn graph_of(header: &Header) -> Result<Graph, FileProblem> {
    let text = header.metadata.get(GRAPH).ok_or_else(|| {
        FileProblem::NotAModel(format!(
            "it is a safetensors file without {GRAPH}, so its layers are unknown"
        ))
    })?;
    serde_json::from_str(text).map_err(|error| FileProblem::Damaged(format!("its layers: {error}")))
}

/// A card, checked against the layers it came with.
pub(crate) fn card_of(text: &str, graph: &Graph) -> Result<Card, FileProblem> {
    let card = Card::from_json(text)?;
    if card.input.shape != graph.input_shape() || !card.input.scale.is_finite() {
        return Err(FileProblem::Damaged(
            "its card and its layers do not agree on the input".into(),
        ));
    }
    if let Some(problem) = card.input.form.problem() {
        return Err(FileProblem::Damaged(format!("its card: {problem}")));
    }
    Ok(card)
}

/// Checks that the tensors are the graph's weights and that they fill the data, byte for byte. Returns
/// the numbers of the weights in the order in which they lie in the file.
fn places(header: &Header, graph: &Graph, data: u64) -> Result<Vec<usize>, FileProblem> {
    let damaged = |problem: String| Err(FileProblem::Damaged(problem));
    let mut order = Vec::with_capacity(graph.weights().len());
    for (number, weight) in graph.weights().iter().enumerate() {
        let name = &weight.name;
        let Some(tensor) = header.tensors.get(name) else {
            return damaged(format!("it has no tensor {name}"));
        };
        if tensor.dtype != "F32" {
            let dtype = shortened(&tensor.dtype);
            return damaged(format!("{name} is of type {dtype}; models have F32"));
        }
        if tensor.shape != weight.shape {
            let wanted = &weight.shape;
            return damaged(format!("{name} does not have the shape {wanted:?} of its layer"));
        }
        let [start, end] = tensor.data_offsets;
        if end.checked_sub(start) != Some(4 * weight.range.len() as u64) {
            return damaged(format!("the place of {name} is not as large as {name}"));
        }
        order.push((start, end, number));
    }
    if header.tensors.len() > order.len() {
        let known: BTreeSet<&str> = graph.weights().iter().map(|w| w.name.as_str()).collect();
        let extra = header.tensors.keys().find(|name| !known.contains(name.as_str()));
        let extra = extra.map_or(String::new(), |name| shortened(name).to_string());
        return damaged(format!("no layer has the tensor {extra}"));
    }
    order.sort_unstable();
    let mut at = 0;
    for &(start, end, _) in &order {
        if start != at {
            return damaged("its tensors overlap or leave gaps".into());
        }
        at = end;
    }
    if at != data {
        return damaged(format!("its tensors take {at} bytes, and it has {data} for them"));
    }
    Ok(order.into_iter().map(|(_, _, number)| number).collect())
}

fn read_floats(source: &mut impl Read, values: &mut [f32]) -> Result<(), FileProblem> {
    let mut bytes = [0; 1 << 14];
    for block in values.chunks_mut(bytes.len() / 4) {
        let bytes = &mut bytes[..4 * block.len()];
        exactly(source, bytes)?;
        for (value, bytes) in block.iter_mut().zip(bytes.chunks_exact(4)) {
            *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
    Ok(())
}

/// The file may be cut while it is read.
fn exactly(source: &mut impl Read, bytes: &mut [u8]) -> Result<(), FileProblem> {
    source.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => FileProblem::Damaged("it ends too early".into()),
        _ => FileProblem::Io(error),
    })
}

/// A stranger's word, short enough for a message.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
