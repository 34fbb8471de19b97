//! Measuring a network: loss and accuracy over samples, and whether the two fit at all.

use data::{Samples, View};
use engine::{Cpu, Input, Program, Session};
use model::{Graph, Model};

use crate::Error;
use crate::event::Metrics;
use crate::tally::Tally;

/// A session that answers with a model's weights, `batch` samples at a time.
pub fn session(model: &Model, batch: usize, cpu: Cpu) -> Result<Session, Error> {
    let mut session = Session::new(Program::inference(&model.graph, batch)?, cpu);
    session.weights_mut().copy_from_slice(&model.weights);
    Ok(session)
}

/// Loss and accuracy of a model over all samples. Bytes are scaled as the model's card says.
pub fn measure(model: &Model, samples: &Samples, batch: usize, cpu: Cpu) -> Result<Metrics, Error> {
    check_fit(&model.graph, samples)?;
    evaluate(&mut session(model, batch, cpu)?, samples, model.card.input.scale, batch)
}

/// The same for a session in the middle of its training.
pub(crate) fn evaluate(
    session: &mut Session,
    samples: &Samples,
    scale: f32,
    batch: usize,
) -> Result<Metrics, Error> {
    let mut tally = Tally::default();
    for start in (0..samples.len()).step_by(batch) {
        let range = start..samples.len().min(start + batch);
        let x = input(samples.rows(range.clone()), scale);
        tally.count(&session.evaluate(x, &samples.y[range]));
    }
    let metrics = tally.metrics().ok_or_else(|| Error::Orders("there are no samples".into()))?;
    if metrics.loss.is_finite() { Ok(metrics) } else { Err(Error::NotANumber) }
}

/// Samples as the engine takes them: bytes are scaled, floats are taken as they are.
pub fn input(x: View<'_>, scale: f32) -> Input<'_> {
    match x {
        View::U8(x) => Input::Bytes { x, scale },
        View::F32(x) => Input::Floats(x),
    }
}

/// Whether a network takes these samples and knows their classes.
pub(crate) fn check_fit(graph: &Graph, samples: &Samples) -> Result<(), Error> {
    if graph.input_shape() != samples.shape {
        return Err(Error::Orders(format!(
            "the network takes samples of shape {:?}, and the data has {:?}; \
             choose data or a network of one shape",
            graph.input_shape(),
            samples.shape
        )));
    }
    let outputs = graph.output_shape();
    if outputs.len() != 1 || outputs[0] < samples.classes {
        return Err(Error::Orders(format!(
            "the network answers with {outputs:?} numbers, and the data has {} classes; \
             give its last layer {} units",
            samples.classes, samples.classes
        )));
    }
    Ok(())
}
