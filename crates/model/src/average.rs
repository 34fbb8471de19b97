//! The mean of models of the same layers.
//!
//! Element by element, the models are summed as a balanced binary tree over the list,
//! ((m0+m1)+(m2+m3))+…, and the sum is divided once. This is the order in which ranks are summed
//! everywhere in Trainyard, so the mean of files equals the mean that workers agree on.

use crate::{Error, Model, weights_sha256};

/// A model in an average.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Where it comes from, for messages.
    pub from: &'a str,
    /// The model.
    pub model: &'a Model,
    /// Its share: how many samples it saw. The same for all where that is not known.
    pub samples: u64,
}

/// The mean of models, Σ n·w / Σ n. Its card is the first one's, less what is true of that one alone.
pub fn average(parts: &[Part<'_>]) -> Result<Model, Error> {
    let Some(first) = parts.first() else {
        return Err(Error::NothingToAverage("there are no models to average"));
    };
    if parts.iter().all(|part| part.samples == 0) {
        return Err(Error::NothingToAverage("no model has seen a sample, so none has a share"));
    }
    for part in parts {
        if let Some(difference) = difference(first.model, part.model) {
            return Err(Error::Different {
                first: first.from.into(),
                from: part.from.into(),
                doing: "be averaged",
                difference,
            });
        }
    }
    let lists: Vec<(&[f32], u64)> =
        parts.iter().map(|part| (&part.model.weights[..], part.samples)).collect();
    let weights = mean(&lists);
    let mut card = first.model.card.clone();
    card.metrics.clear();
    card.trained = None;
    card.averaged = parts.iter().map(|part| part.model.weights_sha256()).collect();
    card.weights_sha256 = weights_sha256(&weights);
    Ok(Model { graph: first.model.graph.clone(), weights, card })
}

/// The mean of equally long lists, each with its number of samples, not all zero: Σ n·w / Σ n, the
/// plain mean where all numbers are one.
pub fn mean(lists: &[(&[f32], u64)]) -> Vec<f32> {
    let len = lists.first().map_or(0, |(list, _)| list.len());
    let total = lists.iter().map(|(_, samples)| samples).sum::<u64>() as f32;
    let mut out = vec![0.0; len];
    for (number, block) in out.chunks_mut(BLOCK).enumerate() {
        sum(lists, number * BLOCK, block);
        block.iter_mut().for_each(|value| *value /= total);
    }
    out
}

/// Elements summed at a time: few enough that the sums stay in the nearest cache.
const BLOCK: usize = 1024;

/// The tree: the left part takes the largest power of two that leaves something for the right.
fn sum(lists: &[(&[f32], u64)], start: usize, out: &mut [f32]) {
    if let [(list, samples)] = lists {
        let list = &list[start..start + out.len()];
        for (out, value) in out.iter_mut().zip(list) {
            *out = *samples as f32 * value;
        }
        return;
    }
    let (left, right) = lists.split_at(lists.len().next_power_of_two() / 2);
    let mut of_right = [0.0; BLOCK];
    let of_right = &mut of_right[..out.len()];
    sum(left, start, out);
    sum(right, start, of_right);
    for (out, right) in out.iter_mut().zip(of_right) {
        *out += *right;
    }
}

/// The first thing in which a model is not like another, in words.
pub(crate) fn difference(first: &Model, other: &Model) -> Option<String> {
    let [a, b] = [first, other].map(|model| model.graph.nodes());
    if let Some(number) = (0..a.len().min(b.len())).find(|&number| a[number] != b[number]) {
        let layer = |node| serde_json::to_string(node).unwrap_or_default();
        return Some(format!(
            "its layer {} is {}, not {}",
            number + 1,
            layer(&b[number]),
            layer(&a[number])
        ));
    }
    if a.len() != b.len() {
        return Some(format!("it has {} layers, not {}", b.len(), a.len()));
    }
    let [a, b] = [&first.card, &other.card];
    if a.input != b.input {
        return Some(format!("its input is {:?}, not {:?}", b.input, a.input));
    }
    if a.labels != b.labels {
        return Some(format!("its labels are {:?}, not {:?}", b.labels, a.labels));
    }
    None
}
