//! A server's counter: requests come in on many lines, one after another they are taken, and answers
//! go out. One task owns the shelf, so that there is no lock that anybody could hold.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use collective::{Reader, Wire, Writer};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};

use super::request::{Answer, Request};
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

    /// Serves another group from now on; what is left of the last one is dropped. A driver may say so
    /// twice, when its group is at work already.
    pub(crate) fn turn_to(&mut self, generation: u64) {
        if generation > self.generation {
            self.generation = generation;
            self.waiting.clear();
            self.shelf.begin_again();
        }
    }

    /// Takes requests on a new line too: its number.
    pub(crate) fn add(&mut self, wire: Wire) -> u64 {
        self.next_line += 1;
        let (answers, outgoing) = unbounded_channel();
        self.lines.insert(self.next_line, Line { generation: None, answers });
        let answers = (outgoing, self.bytes_sent.clone());
        tokio::spawn(attend(self.next_line, wire, self.sender.clone(), answers));
        self.next_line
    }

    /// The next request. Giving up the call loses none.
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
            // Of another group: the line is closed, or whoever asks would wait for ever.
            self.lines.remove(&line);
            return;
        };
        match self.shelf.take(line, request) {
            // Whoever no longer listens will be found to be gone.
            Reply::Now(answer) => drop(open.answers.send(answer)),
            Reply::Nothing => {}
            Reply::Later(request) => self.waiting.push((line, request)),
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
    while let Ok(Some(request)) = Request::receive(&mut reader).await {
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
        let Ok(sent) = answer.send(&mut writer).await else { return };
        bytes_sent.fetch_add(sent, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use collective::{Access, Door, Memory, Secret, knock};
    use engine::{Cpu, Isa};
    use tokio::time::timeout;

    use super::super::{Rules, State};
    use super::*;

    /// A server of one weight that takes the gradients of two workers, and a line to it.
    async fn counter() -> (Counter, Reader, Writer) {
        let rules = Rules {
            trained: 1.into(),
            optimizer: spec::Optimizer::Sgd(spec::Sgd::default()),
            rate: Box::new(|_| 1.0),
            clip: None,
            turns: Some(2),
            steps: 9,
        };
        let mut counter = Counter::new(Shelf::new(rules, Cpu::new(1, Isa::detect())));
        counter.shelf.take(0, Request::Set(State { weights: vec![0.0], ..State::default() }));
        counter.turn_to(3);
        let net = Arc::new(Memory::new());
        let access = Access::plain(Secret::from_hex(&"07".repeat(32)).unwrap());
        let mut door = Door::open(net.clone(), "", access.clone(), Arc::new(|_| {})).await.unwrap();
        let address = door.address().to_owned();
        let (near, far) = tokio::join!(knock(&*net, &address, "", &access), door.accept());
        counter.add(far.unwrap());
        let (reader, writer) = near.unwrap().split();
        (counter, reader, writer)
    }

    async fn ask(counter: &mut Counter, writer: &mut Writer, request: Request) {
        request.send(writer).await.unwrap();
        let (line, request) = counter.next().await;
        counter.take(line, request);
    }

    async fn hear(reader: &mut Reader) -> Option<Answer> {
        let answer = timeout(Duration::from_secs(9), Answer::receive(reader)).await;
        answer.expect("it answers or hangs up").unwrap()
    }

    fn push(turn: u64) -> Request {
        Request::Push { step: 0, turn, rank: turn, note: [0; 64], gradient: vec![1.0] }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_of_another_group_is_hung_up_on() {
        for generation in [2, 4] {
            let (mut counter, mut reader, mut writer) = counter().await;
            ask(&mut counter, &mut writer, Request::Join { generation, members: 1 }).await;
            assert_eq!(hear(&mut reader).await, None);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_is_announced_again_goes_on() {
        let (mut counter, mut reader, mut writer) = counter().await;
        for request in [Request::Join { generation: 3, members: 1 }, push(0)] {
            ask(&mut counter, &mut writer, request).await;
        }
        counter.turn_to(3);
        for request in [push(1), Request::Pull { step: 1, norm: None }] {
            ask(&mut counter, &mut writer, request).await;
        }
        let answer = hear(&mut reader).await;
        let Some(Answer::Weights { step: 1, weights, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!(weights, [-2.0]);
        counter.turn_to(4);
        assert!(counter.shelf.holds() == [0, 1]);
    }
}
