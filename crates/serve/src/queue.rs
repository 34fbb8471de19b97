//! Requests wait here for a processor, in order, and not too many of them.
//!
//! Requests that come while all processors are busy are taken together, as one batch. So they gather under load
//! without anybody waiting for them, and alone they are answered at once.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use crate::answer::Answers;
use crate::limits::Gather;
use crate::problem::Problem;
use crate::served::Served;

/// A request that waits for its answer.
pub(crate) struct Job {
    /// The model that was served when it came.
    pub(crate) served: Arc<Served>,
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
    /// After this, nobody waits for the answer any more.
    pub(crate) deadline: Instant,
    pub(crate) reply: oneshot::Sender<Result<Answers, Problem>>,
    /// Memory that its body takes of what all bodies may.
    pub(crate) memory: OwnedSemaphorePermit,
}

/// A bounded queue.
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(most: usize) -> Queue {
        Queue { waiting: Mutex::default(), changed: Condvar::new(), most }
    }

    /// Puts a request at the end; refuses it where the queue is full or closed.
    pub(crate) fn put(&self, job: Job) -> Result<(), Problem> {
        let mut waiting = self.lock();
        if waiting.closed || waiting.jobs.len() >= self.most {
            return Err(Problem::busy());
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// The next requests, all for one model: those that wait, and those that come within a moment. None when the queue
    /// is closed and empty.
    pub(crate) fn take(&self, gather: Gather) -> Option<Vec<Job>> {
        let mut waiting = self.lock();
        while waiting.jobs.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if !gather.moment.is_zero() {
            let until = Instant::now() + gather.moment;
            while waiting.jobs.len() < gather.batch && !waiting.closed {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let waited = self.changed.wait_timeout(waiting, left);
                waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        let first = waiting.jobs.pop_front()?;
        let mut taken = vec![first];
        while taken.len() < gather.batch
            && waiting.jobs.front().is_some_and(|job| Arc::ptr_eq(&job.served, &taken[0].served))
        {
            taken.extend(waiting.jobs.pop_front());
        }
        // Another processor may have been woken for a request that was taken here, and sleeps again.
        if !waiting.jobs.is_empty() {
            self.changed.notify_one();
        }
        Some(taken)
    }

    /// Takes nothing more; what waits is still answered.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
