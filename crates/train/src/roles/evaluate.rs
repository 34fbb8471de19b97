//! Measures a model, or an ensemble, on samples it was not trained on.

use data::Manifest;
use model::Published;
use spec::Evaluate;

use crate::context::Context;
use crate::event::Kind;
use crate::orders::{Orders, Performed};
use crate::{Error, measure, recognize};

/// `trained_by` and `data` are the tasks that made the model and the data.
pub(crate) fn evaluate(
    orders: &Orders,
    how: &Evaluate,
    (trained_by, data): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Performed, Error> {
    let run = orders.run_dir();
    let published = Published::open(&run.model(trained_by))?;
    let samples = Manifest::open(&run.data(data))?.split(how.split)?;
    let metrics = measure(&published, &samples, how.batch, orders.cpu())?;
    let faces = recognize(&published, &samples, (how.batch, how.threshold), orders.cpu())?;
    context.emit(Kind::Evaluated {
        model: trained_by.to_owned(),
        split: how.split.as_str().to_owned(),
        metrics,
        samples: samples.len() as u64,
        faces,
    });
    Ok(Performed::Done)
}
