//! The run's folder as it lies with the driver, asked over a connection of its own.
//!
//! A thread holds the connection, for whoever asks may be in the middle of anything. When the driver is
//! gone it is looked for as long as a process waits for one, and the question asked again: every
//! question can be.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use bytes::Bytes;
use collective::{Access, Net, Reader, Writer, knock};
use store::{Entry, Remote};
use tokio::time::{Instant, sleep, timeout};

use super::ask::{Answer, Ask, CHUNK, hear, say};
use crate::message::ToDriver;
use crate::{Error, Join};

/// Between two tries to find a driver.
const RETRY: Duration = Duration::from_millis(200);
/// How long the driver may take for the next frame.
const SILENCE: Duration = Duration::from_secs(60);
/// How many chunks of a file may wait to be read.
const AHEAD: usize = 4;

/// Where a process finds the folder.
pub(crate) struct Caller {
    pub(crate) net: Arc<dyn Net>,
    pub(crate) access: Access,
    pub(crate) join: Arc<dyn Fn() -> Result<Join, Error> + Send + Sync>,
    pub(crate) patience: Duration,
}

/// A folder of the run, with the driver. A clone asks over the same connection.
#[derive(Clone)]
pub(crate) struct Depot {
    asks: Sender<Question>,
    /// Where it is in the run's folder; ends with a slash unless empty.
    prefix: Arc<str>,
}

struct Question {
    ask: Ask,
    /// What is put.
    bytes: Bytes,
    answer: SyncSender<io::Result<Piece>>,
}

/// What comes back: an answer, and after it maybe the bytes of a file.
enum Piece {
    Answer(Answer),
    Chunk(Vec<u8>),
}

impl std::fmt::Debug for Depot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Depot({})", self.prefix)
    }
}

impl Depot {
    /// The whole folder. The driver is called with the first question.
    pub(crate) fn open(caller: Caller) -> io::Result<Depot> {
        let (asks, questions) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let clerk = move || runtime.block_on(Clerk { caller, line: None }.attend(&questions));
        std::thread::Builder::new().name("files".into()).spawn(clerk)?;
        Ok(Depot { asks, prefix: "".into() })
    }

    /// A folder within it.
    pub(crate) fn within(&self, folder: &str) -> Depot {
        Depot { asks: self.asks.clone(), prefix: format!("{}{folder}/", self.prefix).into() }
    }

    fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    fn ask(&self, ask: Ask, bytes: Bytes) -> io::Result<(Answer, Receiver<io::Result<Piece>>)> {
        let gone = || io::Error::other("the line to the run's folder is closed");
        let (answer, pieces) = sync_channel(AHEAD);
        self.asks.send(Question { ask, bytes, answer }).map_err(|_| gone())?;
        match pieces.recv().map_err(|_| gone())?? {
            Piece::Answer(Answer::Failed(failure)) => Err(failure.into()),
            Piece::Answer(answer) => Ok((answer, pieces)),
            Piece::Chunk(_) => Err(strange()),
        }
    }
}

impl Remote for Depot {
    fn get(&self, path: &str, offset: u64) -> io::Result<(u64, Box<dyn Read + Send>)> {
        let ask = Ask::Get { path: self.path(path), offset };
        let (answer, pieces) = self.ask(ask, Bytes::new())?;
        let Answer::Size(size) = answer else { return Err(strange()) };
        let left = size.saturating_sub(offset);
        Ok((size, Box::new(Incoming { pieces, left, chunk: io::Cursor::default() })))
    }

    fn put(&self, path: &str, bytes: Bytes, new: bool) -> io::Result<()> {
        let ask = Ask::Put { path: self.path(path), size: bytes.len() as u64, new };
        self.ask(ask, bytes).map(drop)
    }

    fn list(&self, prefix: &str) -> io::Result<Vec<Entry>> {
        let path = self.path(prefix).trim_end_matches('/').to_owned();
        let Answer::Listed(files) = self.ask(Ask::List { path }, Bytes::new())?.0 else {
            return Err(strange());
        };
        let own = |(path, size): (String, u64)| {
            Some(Entry { path: path.strip_prefix(&*self.prefix)?.to_owned(), size })
        };
        Ok(files.into_iter().filter_map(own).collect())
    }

    fn delete(&self, path: &str) -> io::Result<()> {
        self.ask(Ask::Delete { path: self.path(path) }, Bytes::new()).map(drop)
    }

    fn size(&self, path: &str) -> io::Result<u64> {
        match self.ask(Ask::Size { path: self.path(path) }, Bytes::new())?.0 {
            Answer::Size(size) => Ok(size),
            _ => Err(strange()),
        }
    }
}

/// The bytes of a file, as they come in.
struct Incoming {
    pieces: Receiver<io::Result<Piece>>,
    /// How many have not come in yet.
    left: u64,
    chunk: io::Cursor<Vec<u8>>,
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 || self.left == 0 || buffer.is_empty() {
                return Ok(read);
            }
            match self.pieces.recv() {
                Ok(Ok(Piece::Chunk(chunk))) => {
                    self.left = self.left.saturating_sub(chunk.len() as u64);
                    self.chunk = io::Cursor::new(chunk);
                }
                Ok(Err(error)) => return Err(error),
                Ok(Ok(Piece::Answer(_))) | Err(_) => return Err(strange()),
            }
        }
    }
}

/// Puts questions to the driver, one after another.
struct Clerk {
    caller: Caller,
    line: Option<(Reader, Writer)>,
}

/// How a question ended that was not answered.
enum Unanswered {
    /// Nothing was heard of the answer: it can be asked again.
    Again(io::Error),
    /// Half of it was.
    Torn(io::Error),
}

impl Clerk {
    async fn attend(mut self, questions: &Receiver<Question>) {
        while let Ok(question) = questions.recv() {
            let since = Instant::now();
            loop {
                let problem = match self.put_to_driver(&question).await {
                    Ok(()) => break,
                    Err(Unanswered::Again(problem)) => problem,
                    Err(Unanswered::Torn(problem)) => {
                        let _ = question.answer.send(Err(problem));
                        break;
                    }
                };
                if since.elapsed() > self.caller.patience {
                    let _ = question.answer.send(Err(problem));
                    break;
                }
                sleep(RETRY).await;
            }
        }
    }

    async fn put_to_driver(&mut self, question: &Question) -> Result<(), Unanswered> {
        // Kept only where it was used to the end.
        let line = match self.line.take() {
            Some(line) => line,
            None => self.call().await.map_err(Unanswered::Again)?,
        };
        let (mut reader, mut writer) = line;
        let answer =
            converse(&mut reader, &mut writer, question).await.map_err(Unanswered::Again)?;
        let follows = match (&question.ask, &answer) {
            (Ask::Get { offset, .. }, Answer::Size(size)) => size.saturating_sub(*offset),
            _ => 0,
        };
        // Whoever asked may have gone, and the rest of the answer is read all the same.
        let _ = question.answer.send(Ok(Piece::Answer(answer)));
        let mut left = follows;
        while left > 0 {
            let chunk =
                within(reader.receive(CHUNK)).await.and_then(|chunk| chunk.ok_or_else(strange));
            let chunk = chunk.map_err(Unanswered::Torn)?;
            left = left.saturating_sub(chunk.len() as u64);
            let _ = question.answer.send(Ok(Piece::Chunk(chunk)));
        }
        self.line = Some((reader, writer));
        Ok(())
    }

    async fn call(&self) -> io::Result<(Reader, Writer)> {
        let join = (self.caller.join)().map_err(io::Error::other)?;
        let wire = knock(&*self.caller.net, &join.address, &join.fingerprint, &self.caller.access);
        let wire = wire.await.map_err(|refusal| {
            io::Error::other(format!("cannot reach the driver at {}: {refusal}", join.address))
        })?;
        let (reader, mut writer) = wire.split();
        within(say(&mut writer, &ToDriver::Files)).await?;
        Ok((reader, writer))
    }
}

async fn converse(
    reader: &mut Reader,
    writer: &mut Writer,
    question: &Question,
) -> io::Result<Answer> {
    within(say(writer, &question.ask)).await?;
    for chunk in question.bytes.chunks(CHUNK) {
        within(writer.send(chunk)).await?;
    }
    within(hear(reader)).await?.ok_or_else(|| io::Error::other("the driver hung up"))
}

async fn within<T>(what: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "the driver does not answer");
    timeout(SILENCE, what).await.map_err(late)?
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the driver's answer is not one to the question")
}
