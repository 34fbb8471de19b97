//! Measuring: loss and accuracy over samples, and whether a network and samples fit at all.

use data::{Samples, View};
use engine::{Cpu, Input, Jury, Outcome, Program, Session, cross_entropy};
use model::{Graph, Model, Published, Verdict, is_word};
use spec::{Loss, LossName};

use crate::event::Metrics;
use crate::tally::Tally;
use crate::{Error, triplets};

/// Loss and accuracy over all samples, of a model or of an ensemble. Bytes are scaled as the card
/// says. An ensemble is right where the class that won the vote is; its loss is that of the mean
/// probabilities.
pub fn measure(
    published: &Published,
    samples: &Samples,
    batch: usize,
    cpu: Cpu,
) -> Result<Metrics, Error> {
    let first = published.first();
    if first.card.embedding {
        return measure_triplets(first, samples, batch, cpu);
    }
    check_fit(&first.graph, samples)?;
    let scale = first.card.input.scale;
    let mut jury = Jury::new(published, batch, cpu)?;
    match published {
        Published::One(_) => evaluate(jury.seat(0), samples, scale, batch),
        Published::Many(_) => {
            let ask = |x: View<'_>, labels: &[u32]| {
                judge(&jury.ask(input(x, scale), labels.len()), labels)
            };
            metrics(&count(samples, batch, (0, 1), ask))
        }
    }
}

/// Loss and accuracy of triplets: those of the samples, or those that are drawn of people, always the
/// same ones.
fn measure_triplets(
    model: &Model,
    samples: &Samples,
    batch: usize,
    cpu: Cpu,
) -> Result<Metrics, Error> {
    let Model { graph, weights, card } = model;
    check_input(graph, data::picture_shape(&samples.shape))?;
    let loss = card.trained.as_ref().map(|trained| trained.loss);
    let loss = loss.unwrap_or(Loss::of(LossName::Triplet));
    let drawn = triplets::measured_on(samples, &loss);
    let triplets = drawn.as_ref().unwrap_or(samples);
    if triplets.is_empty() {
        return Err(triplets::none_drawn());
    }
    let mut session = Session::new(Program::judging(graph, loss, batch)?, cpu);
    session.weights_mut().copy_from_slice(weights);
    evaluate(&mut session, triplets, card.input.scale, batch)
}

/// The same for a session in the middle of its training.
pub(crate) fn evaluate(
    session: &mut Session,
    samples: &Samples,
    scale: f32,
    batch: usize,
) -> Result<Metrics, Error> {
    let all = count(samples, batch, (0, 1), |x, labels| session.evaluate(input(x, scale), labels));
    metrics(&all)
}

/// Sums what `outcome` finds of the values and labels of every `world`-th batch, from batch `rank` on:
/// a rank's part of measuring together.
pub(crate) fn count(
    samples: &Samples,
    batch: usize,
    (rank, world): (usize, usize),
    mut outcome: impl FnMut(View<'_>, &[u32]) -> Outcome,
) -> Tally {
    let mut tally = Tally::default();
    for start in (rank * batch..samples.len()).step_by(world * batch) {
        let range = start..samples.len().min(start + batch);
        tally.count(&outcome(samples.rows(range.clone()), &samples.y[range]));
    }
    tally
}

/// Means that are numbers, or why there are none.
pub(crate) fn metrics(tally: &Tally) -> Result<Metrics, Error> {
    let metrics = tally.metrics().ok_or_else(|| Error::Orders("there are no samples".into()))?;
    if metrics.loss.is_finite() { Ok(metrics) } else { Err(Error::NotANumber) }
}

/// How a verdict stands to the right answers.
fn judge(verdict: &Verdict, labels: &[u32]) -> Outcome {
    let mut outcome = Outcome { samples: labels.len() as u32, ..Outcome::default() };
    let classes = verdict.probabilities.len() / labels.len().max(1);
    for (sample, &label) in labels.iter().enumerate() {
        let label = label as usize;
        assert!(label < classes, "label {label} of {classes} classes");
        outcome.loss += f64::from(cross_entropy(verdict.probabilities[sample * classes + label]));
        outcome.correct += u32::from(verdict.classes[sample] == label);
    }
    outcome
}

/// Samples as the engine takes them: bytes are scaled, floats and ids are taken as they are.
pub fn input(x: View<'_>, scale: f32) -> Input<'_> {
    match x {
        View::U8(x) => Input::Bytes { x, scale },
        View::F32(x) => Input::Floats(x),
        View::U16(x) => Input::Ids(x),
        View::U32(x) => Input::WideIds(x),
    }
}

/// Whether a network takes samples whose ids are below `words`, or that are no ids if there is none.
pub fn check_vocabulary(graph: &Graph, words: Option<usize>) -> Result<(), Error> {
    graph.misfit(words).map_or(Ok(()), |problem| Err(Error::Orders(problem)))
}

/// Whether the ids of samples, where a network takes ids, are all words that it knows.
pub fn check_ids(graph: &Graph, x: View<'_>) -> Result<(), Error> {
    let Some(words) = graph.vocabulary() else { return Ok(()) };
    let wrong = match x {
        View::U8(x) => x.iter().map(|&id| f32::from(id)).find(|&id| !is_word(id, words)),
        View::F32(x) => x.iter().copied().find(|&id| !is_word(id, words)),
        ids => ids.largest_id().filter(|&id| id as usize >= words).map(|id| id as f32),
    };
    wrong.map_or(Ok(()), |id| {
        Err(Error::Orders(format!(
            "samples hold {id}, and the network takes ids of words below {words}; encode them as it was trained"
        )))
    })
}

/// Whether a network takes these samples and knows their classes.
pub(crate) fn check_fit(graph: &Graph, samples: &Samples) -> Result<(), Error> {
    let words = samples.x.kind().is_ids().then_some(0);
    check_vocabulary(graph, words)?;
    check_ids(graph, samples.x.view())?;
    let usual = LossName::usual(graph.output_shape().iter().product());
    check_shape(graph, &samples.shape, (samples.classes, usual))
}

fn check_input(graph: &Graph, shape: &[usize]) -> Result<(), Error> {
    if graph.input_shape() != shape {
        return Err(Error::Orders(format!(
            "the network takes samples of shape {:?}, and the data has {shape:?}; \
             choose data or a network of one shape",
            graph.input_shape(),
        )));
    }
    Ok(())
}

/// Whether a network takes samples of a shape, and a loss can tell by its answers so many classes apart.
pub(crate) fn check_shape(
    graph: &Graph,
    shape: &[usize],
    (classes, loss): (usize, LossName),
) -> Result<(), Error> {
    check_input(graph, shape)?;
    let outputs = graph.output_shape();
    if outputs.len() != 1 || loss.classes(outputs[0]) < classes {
        let remedy = match outputs {
            [1] if classes == 2 => "train it with loss: binary_crossentropy".to_owned(),
            _ => format!("give its last layer {classes} units"),
        };
        return Err(Error::Orders(format!(
            "the network answers with {outputs:?} numbers, and the data has {classes} classes; {remedy}",
        )));
    }
    Ok(())
}
