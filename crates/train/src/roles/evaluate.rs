//! Measures a model on samples it was not trained on.

use data::Manifest;
use engine::{Program, Session};
use model::Model;
use spec::Split;

use crate::event::Kind;
use crate::perform::{Orders, Performed, World};
use crate::{Error, check_fit};

pub(crate) fn evaluate(
    orders: &Orders,
    trained_by: &str,
    (data, split): (&str, Split),
    batch: usize,
    world: World<'_>,
) -> Result<Performed, Error> {
    let run = orders.run_dir();
    let Model { graph, weights, .. } = Model::load(&run.model(trained_by).join(model::FILE_NAME))?;
    let samples = Manifest::open(&run.data(data))?.split(split)?;
    check_fit(&graph, &samples)?;
    let mut session = Session::new(Program::inference(&graph, batch)?, orders.cpu());
    session.weights_mut().copy_from_slice(&weights);
    let metrics = crate::evaluate(&mut session, &samples, batch);
    let split = split.as_str().to_owned();
    let samples = samples.len() as u64;
    (world.emit)(Kind::Evaluated {
        model: trained_by.to_owned(),
        split,
        metrics,
        samples,
    });
    Ok(Performed::Done)
}
