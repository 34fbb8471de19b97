//! How ranks train one model together. A strategy takes training one small move further; the loop
//! around it ([`fit`](crate::fit)) is the same for all.

mod all_reduce;
mod average;
mod parameter_server;
mod round;

use spec::{Combine, Strategy};

use crate::pulse::Exchange;
use crate::{Error, Trainer};

pub(crate) use parameter_server::collect;
pub(crate) use round::{Replica, Round};

/// Takes training further: a step of all ranks, or, where ranks work for themselves, a step of one of
/// them or their coming together.
pub(crate) async fn advance(
    trainer: &mut Trainer,
    exchange: &mut Exchange<'_>,
) -> Result<(), Error> {
    match trainer.settings.strategy {
        Strategy::Single | Strategy::AllReduce => all_reduce::step(trainer, exchange).await,
        Strategy::Average(average) => match average::local_step(trainer, &average)? {
            average::Went::On => Ok(()),
            average::Went::ToTheEnd if average.combine == Combine::Vote => {
                average::finish_members(trainer, exchange).await
            }
            average::Went::ToTheEnd => average::sync(trainer, exchange, &average).await,
        },
        Strategy::ParameterServer(servers) => {
            parameter_server::step(trainer, exchange, &servers).await
        }
    }
}
