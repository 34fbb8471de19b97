//! The end of an epoch: the result of its batches, validation by all ranks together, and whether
//! training ends here.

use data::View;

use crate::early_stop::Verdict;
use crate::event::Epoch;
use crate::measure::{count, input, metrics};
use crate::pulse::Exchange;
use crate::tally::Tally;
use crate::{Error, Trainer};

/// How many epochs' results are kept with the state. More than end while a driver is away.
const REMEMBERED: usize = 100;

/// What an epoch came to.
pub(crate) struct Ended {
    pub(crate) epoch: Epoch,
    /// Where training ends before its time: the best epoch, and a sentence why.
    pub(crate) early: Option<(u64, String)>,
}

impl Trainer {
    /// Whether an epoch has ended, or all of training has, and its result has not been taken.
    pub(crate) fn owes_epoch(&self) -> bool {
        let (step, taken) = (self.position.step, self.position.epoch_step);
        let per_epoch = self.steps_per_epoch();
        step / per_epoch > taken / per_epoch || (step >= self.steps() && taken < step)
    }

    /// Takes the result. Each rank validates on its share of the batches.
    pub(crate) async fn end_epoch(
        &mut self,
        exchange: &mut Exchange<'_>,
    ) -> Result<Option<Ended>, Error> {
        let step = self.position.step;
        // A process that goes its own way may have come to the end of an epoch by others' work.
        if self.position.tally.samples == 0 {
            self.position.epoch_step = step;
            self.position.ended = step >= self.steps();
            return Ok(None);
        }
        let validation = match self.validation.clone().filter(|_| !self.keeps_members()) {
            None => None,
            Some(samples) if self.goes_alone() => {
                let (session, scale, batch) = (&mut self.session, self.scale, self.settings.batch);
                let judge = |x: View<'_>, y: &[u32]| session.evaluate(input(x, scale), y);
                Some(metrics(&count(&samples, batch, (0, 1), judge))?)
            }
            Some(samples) => {
                let (batch, world) = (self.settings.batch, exchange.group.world());
                let notes: Vec<_> = exchange
                    .group
                    .ranks()
                    .iter()
                    .map(|&rank| {
                        let (session, scale) = (&mut self.session, self.scale);
                        let judge = |x: View<'_>, y: &[u32]| session.evaluate(input(x, scale), y);
                        count(&samples, batch, (rank, world), judge).note()
                    })
                    .collect();
                Some(metrics(&Tally::of_notes(exchange.gather(&notes).await?))?)
            }
        };
        let tally = std::mem::take(&mut self.position.tally);
        let epoch = Epoch {
            epoch: self.epochs_ended(step),
            step,
            train: tally.metrics().expect("an epoch has at least one sample"),
            validation,
            learning_rate: f64::from(self.rate(step - 1)),
        };
        self.position.epoch_step = step;
        self.position.ended = step >= self.steps();
        self.position.epochs.push_back(epoch.clone());
        if self.position.epochs.len() > REMEMBERED {
            self.position.epochs.pop_front();
        }
        if !self.settings.early_stop.is_some_and(|rule| rule.restore_best) {
            self.position.result = Some(epoch.clone());
        }
        let early = self.judge(&epoch);
        Ok(Some(Ended { epoch, early }))
    }

    /// How many epochs have ended at a step. Where weights are averaged every few steps, a round may run
    /// past an epoch's end; and training may end within an epoch, which is then over.
    fn epochs_ended(&self, step: u64) -> u64 {
        match step >= self.steps() {
            true => step.div_ceil(self.steps_per_epoch()),
            false => step / self.steps_per_epoch(),
        }
    }

    /// Asks early stopping about an epoch's result: if training ends, the best epoch and a sentence
    /// why.
    fn judge(&mut self, epoch: &Epoch) -> Option<(u64, String)> {
        let rule = self.settings.early_stop?;
        match self.position.watch.decide(&rule, epoch) {
            Verdict::Better if rule.restore_best => {
                self.position.result = Some(epoch.clone());
                self.best.clear();
                self.best.extend_from_slice(self.session.weights());
                None
            }
            Verdict::Better | Verdict::GoOn => None,
            Verdict::Stop { reason } => {
                self.position.ended = true;
                let best = self.position.watch.best.map_or(epoch.epoch, |(_, at)| at);
                Some((best, reason))
            }
        }
    }
}
