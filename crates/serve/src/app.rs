//! What all routes share: the model that is served, and the way to ask it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{Request, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use crate::answer::Answers;
use crate::guard::Guard;
use crate::problem::Problem;
use crate::queue::Job;
use crate::served::Served;
use crate::worker::Work;

/// Bytes of a body that is too large which are read all the same, and forgotten.
const MOST_DISCARDED: usize = 64 << 20;

/// A running server's state.
pub(crate) struct App {
    served: RwLock<Arc<Served>>,
    pub(crate) work: Arc<Work>,
    pub(crate) guard: Guard,
    /// What is left of the memory for bodies, in KiB.
    bodies: Arc<Semaphore>,
    draining: AtomicBool,
}

impl App {
    pub(crate) fn new(served: Served, work: Arc<Work>, guard: Guard) -> App {
        let bodies = Arc::new(Semaphore::new(work.limits.bodies >> 10));
        let served = RwLock::new(Arc::new(served));
        App { served, work, guard, bodies, draining: AtomicBool::new(false) }
    }

    /// What is served now. Who asked before keeps what was served then.
    pub(crate) fn served(&self) -> Arc<Served> {
        self.served.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves another model from now on.
    pub(crate) fn swap(&self, served: Served) {
        *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
        self.work.metrics.swapped();
    }

    /// Says that the server is about to end.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// The answers to a request's questions, and who gives them.
    pub(crate) async fn ask(
        &self,
        request: Request<Body>,
    ) -> Result<(Arc<Served>, Answers), Problem> {
        let limits = &self.work.limits;
        // Under too much load, what is refused must cost little: its body is not read.
        if self.work.queue.is_full() {
            return Err(Problem::busy());
        }
        let deadline = Instant::now() + limits.answer;
        let (head, body) = request.into_parts();
        let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
        let length = text(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        if let Some(length) = length.filter(|&length: &usize| length > limits.body) {
            if length <= limits.body + MOST_DISCARDED {
                discard(body, limits.sending).await;
            }
            return Err(too_large(limits.body));
        }
        let kib = length.unwrap_or(limits.body).div_ceil(1 << 10).max(1);
        let permits = self.bodies.clone().try_acquire_many_owned(kib as u32);
        let memory = permits.map_err(|_| Problem::busy())?;
        let content_type = text(CONTENT_TYPE).unwrap_or_default().to_owned();
        let body = read(body, limits.body, limits.sending).await?;

        let (reply, answer) = oneshot::channel();
        let served = self.served();
        let job = Job { served: served.clone(), content_type, body, deadline, reply, memory };
        self.work.queue.put(job)?;
        match timeout_at(deadline, answer).await {
            Ok(Ok(answers)) => answers.map(|answers| (served, answers)),
            Ok(Err(_)) => Err(Problem::internal()),
            Err(_) => Err(Problem::late()),
        }
    }
}

fn too_large(most: usize) -> Problem {
    Problem::too_large(format!("The body is too large; {most} bytes is the most."))
}

/// All of a body, if it is not too large and comes in time.
async fn read(mut body: Body, most: usize, within: Duration) -> Result<Bytes, Problem> {
    match timeout(within, Limited::new(&mut body, most).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            discard(body, within).await;
            Err(too_large(most))
        }
        Ok(Err(_)) => Err(Problem::bad("The body ended before it was whole.")),
        Err(_) => {
            let sentence = "The body took too long to come.";
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, sentence))
        }
    }
}

/// Reads what is left of a body, and forgets it. Who is still sending when the connection is closed may never see the
/// answer, and a browser would say that there is no server.
async fn discard(body: Body, within: Duration) {
    let mut rest = Limited::new(body, MOST_DISCARDED);
    drop(timeout(within, async { while let Some(Ok(_)) = rest.frame().await {} }).await);
}
