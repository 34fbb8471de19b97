//! A server's counter: requests come in on many lines, one after another they are taken, and answers
//! go out. One task owns the shelf, so that there is no lock that anybody could hold.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use collective::{Reader, Wire, Writer};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};

use super::request::{Answer, MAX_FRAME, Request};
use super::shelf::{Reply, Shelf};

/// How many requests may wait; then the workers do.
const QUEUE: usize = 64;

/// Where requests are taken.
pub(crate) struct Counter {
    pub(crate) shelf: Shelf,
    /// The group whose requests are taken.
    generation: u64,
    lines: BTreeMap<u64, Line>,
    /// Requests that cannot be answered yet.
    waiting: Vec<(u64, Request)>,
    requests: Receiver<(u64, Option<Request>)>,
    sender: Sender<(u64, Option<Request>)>,
    next_line: u64,
    /// Counts the answers of all lines, those that are dead included.
    bytes_sent: Arc<AtomicU64>,
}

struct Line {
    generation: Option<u64>,
    answers: UnboundedSender<Answer>,
}

impl Counter {
    pub(crate) fn new(shelf: Shelf) -> Self {
        let (sender, requests) = channel(QUEUE);
        Counter {
            shelf,
            generation: 0,
            lines: BTreeMap::new(),
            waiting: vec![],
            requests,
            sender,
            next_line: 0,
            bytes_sent: Arc::default(),
        }
    }

    /// What was answered so far.
    pub(crate) fn bytes_sent(&self) -> u64 {
        self.bytes_sent.load(Ordering::Relaxed)
    }

    /// Serves another group from now on; what is left of the last one is dropped.
    pub(crate) fn turn_to(&mut self, generation: u64) {
        self.generation = generation;
        self.waiting.clear();
        self.shelf.begin_again();
    }

    /// Takes requests on a new line too.
    pub(crate) fn add(&mut self, wire: Wire) {
        self.next_line += 1;
        let (answers, outgoing) = unbounded_channel();
        self.lines.insert(self.next_line, Line { generation: None, answers });
        let answers = (outgoing, self.bytes_sent.clone());
        tokio::spawn(attend(self.next_line, wire, self.sender.clone(), answers));
    }

    /// The next request. Never given up half-way.
    pub(crate) async fn next(&mut self) -> (u64, Option<Request>) {
        self.requests.recv().await.expect("a sender is kept here")
    }

    /// Takes a request; none means that its line is dead.
    pub(crate) fn take(&mut self, line: u64, request: Option<Request>) {
        let Some(request) = request else {
            self.lines.remove(&line);
            return;
        };
        if let (Request::Join { generation, .. }, Some(line)) =
            (&request, self.lines.get_mut(&line))
        {
            line.generation = Some(*generation);
        }
        self.waiting.push((line, request));
        // One request may be what others waited for.
        loop {
            let before = self.waiting.len();
            for (line, request) in std::mem::take(&mut self.waiting) {
                self.answer(line, request);
            }
            if self.waiting.len() == before || self.waiting.is_empty() {
                break;
            }
        }
    }

    fn answer(&mut self, line: u64, request: Request) {
        let ours = |open: &&Line| open.generation == Some(self.generation);
        let Some(open) = self.lines.get(&line).filter(ours) else {
            return;
        };
        match self.shelf.take(line, &request) {
            // Whoever no longer listens will be found to be gone.
            Reply::Now(answer) => drop(open.answers.send(answer)),
            Reply::Nothing => {}
            Reply::Later => self.waiting.push((line, request)),
        }
    }
}

async fn attend(
    line: u64,
    wire: Wire,
    sender: Sender<(u64, Option<Request>)>,
    answers: (UnboundedReceiver<Answer>, Arc<AtomicU64>),
) {
    let (reader, writer) = wire.split();
    tokio::select! {
        biased;
        () = listen(line, reader, &sender) => {}
        () = speak(writer, answers) => {}
    }
    let _ = sender.send((line, None)).await;
}

async fn listen(line: u64, mut reader: Reader, sender: &Sender<(u64, Option<Request>)>) {
    while let Ok(Some(frame)) = reader.receive(MAX_FRAME).await {
        let Some(request) = Request::decode(&frame) else { return };
        if sender.send((line, Some(request))).await.is_err() {
            return;
        }
    }
}

async fn speak(
    mut writer: Writer,
    (mut answers, bytes_sent): (UnboundedReceiver<Answer>, Arc<AtomicU64>),
) {
    while let Some(answer) = answers.recv().await {
        let frame = answer.encode();
        bytes_sent.fetch_add(frame.len() as u64, Ordering::Relaxed);
        if writer.send(&frame).await.is_err() {
            return;
        }
    }
}
