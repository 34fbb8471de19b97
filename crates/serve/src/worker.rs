//! A processor at work: it reads questions, computes a batch, and answers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use engine::{Cpu, Input, Isa, Jury};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::answer::Answers;
use crate::asked::{Asked, check_count};
use crate::limits::{Gather, Limits};
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::queue::{Job, Queue};
use crate::reader::Read;
use crate::served::Served;

/// What all processors share.
pub(crate) struct Work {
    pub(crate) queue: Queue,
    pub(crate) metrics: Metrics,
    pub(crate) gather: Gather,
    pub(crate) limits: Limits,
    pub(crate) isa: Isa,
}

/// One who waits, and their question.
struct Waiting {
    read: Read,
    reply: oneshot::Sender<Result<Answers, Problem>>,
}

impl Work {
    /// Answers until the queue is closed and empty.
    pub(crate) fn run(&self) {
        let mut next = self.queue.take(self.gather);
        while let Some(jobs) = next {
            let served = jobs[0].served.clone();
            next = self.run_for(&served, jobs);
        }
    }

    /// Answers as long as requests are for one model, and gives back the first that are not.
    fn run_for(&self, served: &Arc<Served>, jobs: Vec<Job>) -> Option<Vec<Job>> {
        let Ok(mut jury) = served.jury(Cpu::new(1, self.isa)) else {
            // It was tried when the model was loaded.
            jobs.into_iter().for_each(|job| drop(job.reply.send(Err(Problem::internal()))));
            return self.queue.take(self.gather);
        };
        self.answer(served, &mut jury, jobs);
        loop {
            match self.queue.take(self.gather) {
                Some(jobs) if Arc::ptr_eq(&jobs[0].served, served) => {
                    self.answer(served, &mut jury, jobs);
                }
                other => return other,
            }
        }
    }

    fn answer(&self, served: &Served, jury: &mut Jury<'_>, jobs: Vec<Job>) {
        let mut waiting: Vec<Waiting> = Vec::with_capacity(jobs.len());
        for job in jobs {
            if job.reply.is_closed() {
                continue;
            }
            let read = match Instant::now() < job.deadline {
                true => caught(|| self.read(served, &job)),
                false => Err(Problem::late()),
            };
            // The body is read: its memory is free again.
            drop((job.body, job.memory));
            match read {
                Ok(read) => waiting.push(Waiting { read, reply: job.reply }),
                Err(problem) => drop(job.reply.send(Err(problem))),
            }
        }
        let values: Vec<f32> = waiting.iter().flat_map(|one| &one.read.values).copied().collect();
        let count = waiting.iter().map(|one| one.read.count).sum();
        let mut all = caught(|| Ok(self.compute(served, jury, &values, count)));
        for Waiting { read, reply } in waiting {
            let answers = all.as_mut().map_err(|problem| problem.clone()).and_then(|all| {
                let answers = Answers { words: read.words, ..all.take(read.count) };
                // One sample can be beyond what a network computes; others are not to suffer for it.
                let beyond = "The model's answer is not a number; are the inputs of a usual size?";
                if answers.is_finite() { Ok(answers) } else { Err(Problem::unfit(beyond)) }
            });
            // Who has gone away needs no answer.
            drop(reply.send(answers));
        }
    }

    fn read(&self, served: &Served, job: &Job) -> Result<Read, Problem> {
        let asked = Asked::read(&job.content_type, &job.body, &self.limits)?;
        let read = served.reader.read(&asked).map_err(Problem::unfit)?;
        check_count(read.count, &self.limits)?;
        Ok(read)
    }

    fn compute(
        &self,
        served: &Served,
        jury: &mut Jury<'_>,
        values: &[f32],
        count: usize,
    ) -> Answers {
        let size = served.reader.size();
        served.answer(jury, count, |range| {
            self.metrics.computed(range.len());
            Input::Floats(&values[range.start * size..range.end * size])
        })
    }
}

/// A panic over one batch is no reason to stop serving.
fn caught<T>(work: impl FnOnce() -> Result<T, Problem>) -> Result<T, Problem> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Problem::internal()))
}
