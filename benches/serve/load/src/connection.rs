//! One connection that is kept as long as the server keeps it, and one request at a time on it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// No answer in this time is none.
const ANSWER_WAIT: Duration = Duration::from_secs(10);
/// Our answers are some hundred bytes; a head or body beyond this is not from a server we measure.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Failure {
    /// Nobody listens.
    Refused,
    /// The connection ended before the first byte of an answer.
    Closed,
    /// It ended inside an answer.
    Cut,
    Timeout,
    /// What came is not an answer.
    Malformed,
}

pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
}

pub struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    buffer: Vec<u8>,
    /// Whether the stream has carried an answer before: a server may close such a one at any time.
    pub reused: bool,
}

impl Connection {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, stream: None, buffer: vec![], reused: false }
    }

    pub fn open(&mut self) -> Result<&mut TcpStream, Failure> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(self.address).map_err(|_| Failure::Refused)?;
            let set =
                stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(ANSWER_WAIT)));
            set.map_err(|_| Failure::Refused)?;
            self.stream = Some(stream);
            self.reused = false;
        }
        self.stream.as_mut().ok_or(Failure::Refused)
    }

    /// Sends and reads the answer. After a failure the next request has a new connection.
    pub fn ask(&mut self, request: &[u8]) -> Result<Answer, Failure> {
        let asked = self.try_to_ask(request);
        match &asked {
            Ok((_, true)) => self.reused = true,
            Ok((_, false)) | Err(_) => self.stream = None,
        }
        asked.map(|(answer, _)| answer)
    }

    /// The answer, and whether the connection stays.
    fn try_to_ask(&mut self, request: &[u8]) -> Result<(Answer, bool), Failure> {
        self.buffer.clear();
        // A server may answer and close before it has read everything: what it said counts.
        let _ = self.open()?.write_all(request);
        loop {
            if let Some(head) = Head::of(&self.buffer)? {
                return self.finish(head);
            }
            self.read_more()?;
        }
    }

    fn finish(&mut self, head: Head) -> Result<(Answer, bool), Failure> {
        let end = head.length + head.body;
        if end > MAX_ANSWER_BYTES {
            return Err(Failure::Malformed);
        }
        while self.buffer.len() < end {
            self.read_more()?;
        }
        let body = self.buffer[head.length..end].to_vec();
        Ok((Answer { status: head.status, body }, head.stays))
    }

    fn read_more(&mut self) -> Result<(), Failure> {
        let ended = if self.buffer.is_empty() { Failure::Closed } else { Failure::Cut };
        let mut piece = [0; 4096];
        let stream = self.stream.as_mut().ok_or(ended)?;
        match stream.read(&mut piece) {
            Ok(0) => Err(ended),
            Ok(_) if self.buffer.len() > MAX_ANSWER_BYTES => Err(Failure::Malformed),
            Ok(count) => {
                self.buffer.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(problem) if problem.kind() == ErrorKind::Interrupted => Ok(()),
            Err(problem)
                if matches!(problem.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
            {
                Err(Failure::Timeout)
            }
            Err(_) => Err(ended),
        }
    }
}

/// What the head of an answer says.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Bytes of the head itself, and of the body behind it.
    length: usize,
    body: usize,
    stays: bool,
}

impl Head {
    /// None while it is not whole. Every server here says how long its bodies are.
    fn of(bytes: &[u8]) -> Result<Option<Self>, Failure> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes[..end]).map_err(|_| Failure::Malformed)?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default();
        let status =
            first.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(Failure::Malformed)?;
        let mut stays = first.starts_with("HTTP/1.1");
        let mut body = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => body = value.trim().parse().ok(),
                "connection" => stays &= !value.trim().eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        Ok(Some(Self { status, length: end + 4, body: body.ok_or(Failure::Malformed)?, stays }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_whole() {
        let whole =
            b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 7\r\nconnection: Close\r\n\r\n{...";
        assert_eq!(Head::of(&whole[..40]), Ok(None));
        let head = Head { status: 429, length: whole.len() - 4, body: 7, stays: false };
        assert_eq!(Head::of(whole), Ok(Some(head)));
        assert_eq!(Head::of(b"HTTP/1.1 200 OK\r\n\r\n"), Err(Failure::Malformed));
        assert_eq!(Head::of(b"nonsense\r\n\r\n"), Err(Failure::Malformed));
    }
}
