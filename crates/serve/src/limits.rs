//! A bound for everything that comes from outside.

use std::time::Duration;

/// What a server takes at most. The defaults suit a laptop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Bytes of all bodies together that are being read or wait.
    pub bodies: usize,
    /// Samples, texts or pictures of one request.
    pub questions: usize,
    /// Characters of a text.
    pub text: usize,
    /// Requests that wait for an answer.
    pub queue: usize,
    /// Connections at a time; further ones wait to be taken.
    pub connections: usize,
    /// How long a client may take for its request's head.
    pub head: Duration,
    /// How long a client may take for its request's body.
    pub sending: Duration,
    /// How long an answer may take, waiting included.
    pub answer: Duration,
    /// How long answers are waited for when the server ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 16 << 20,
            bodies: 256 << 20,
            questions: 1024,
            text: 100_000,
            queue: 256,
            connections: 1024,
            head: Duration::from_secs(10),
            sending: Duration::from_secs(30),
            answer: Duration::from_secs(30),
            drain: Duration::from_secs(30),
        }
    }
}

/// How requests are put together, to be computed at once.
#[derive(Clone, Copy, Debug)]
pub struct Gather {
    /// Requests that are taken together, at most.
    pub batch: usize,
    /// How long the first request of a batch waits for others. While all processors are busy, requests
    /// gather anyway.
    pub moment: Duration,
}

impl Default for Gather {
    fn default() -> Self {
        Gather { batch: 32, moment: Duration::ZERO }
    }
}
