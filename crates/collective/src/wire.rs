//! A proved connection that carries frames: a length of four bytes, the lowest first, then as many
//! bytes. What they mean is the caller's business.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};

use crate::Meter;
use crate::net::Stream;

/// A frame's memory grows by this much at a time, as its bytes come in: a length alone reserves
/// nothing.
const GROWTH: usize = 64 * 1024;

/// A connection to a peer that knows the run's secret.
pub struct Wire {
    stream: Box<dyn Stream>,
}

/// The half of a wire that frames come from.
pub struct Reader {
    half: ReadHalf<Box<dyn Stream>>,
    head: [u8; 4],
    /// How much of the head is there.
    head_read: usize,
    body: Vec<u8>,
    /// How much of the body is there.
    body_read: usize,
}

/// The half of a wire that frames go to.
pub struct Writer {
    half: WriteHalf<Box<dyn Stream>>,
    /// A frame was begun and not ended: whatever came next would be read as its rest.
    torn: bool,
}

impl Wire {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Wire {
        Wire { stream }
    }

    /// The same connection; the meter counts what goes over it.
    pub fn metered(self, meter: &Meter) -> Wire {
        Wire::new(meter.watch(self.stream))
    }

    /// The two halves, to be used by different tasks.
    pub fn split(self) -> (Reader, Writer) {
        let (read, write) = tokio::io::split(self.stream);
        let reader = Reader { half: read, head: [0; 4], head_read: 0, body: vec![], body_read: 0 };
        (reader, Writer { half: write, torn: false })
    }

    /// The bare connection, for those with a protocol of their own.
    pub(crate) fn into_stream(self) -> Box<dyn Stream> {
        self.stream
    }
}

impl Reader {
    /// The next frame, of at most `max` bytes; a longer one is an error. `None` when the other side
    /// closed between two frames. Giving up the call loses nothing.
    pub async fn receive(&mut self, max: usize) -> io::Result<Option<Vec<u8>>> {
        while self.head_read < self.head.len() {
            let read = self.half.read(&mut self.head[self.head_read..]).await?;
            if read == 0 && self.head_read == 0 {
                return Ok(None);
            }
            self.head_read += some(read)?;
        }
        let length = u32::from_le_bytes(self.head) as usize;
        if length > max {
            let problem = format!("a frame of {length} bytes came where at most {max} may");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        while self.body_read < length {
            if self.body_read == self.body.len() {
                self.body.resize((self.body_read + GROWTH).min(length), 0);
            }
            let read = self.half.read(&mut self.body[self.body_read..]).await?;
            self.body_read += some(read)?;
        }
        (self.head_read, self.body_read) = (0, 0);
        Ok(Some(std::mem::take(&mut self.body)))
    }
}

/// What was read, unless the stream has ended where it may not.
fn some(read: usize) -> io::Result<usize> {
    if read == 0 {
        let problem = "the connection ended in the middle of a frame";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
    }
    Ok(read)
}

impl Writer {
    /// Sends one frame. After an error, or a call that was given up, no other can be sent.
    pub async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if self.torn {
            let problem = "an earlier frame was not sent whole";
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, problem));
        }
        let length = u32::try_from(frame.len()).map_err(|_| {
            let problem = format!("a frame of {} bytes is too long to send", frame.len());
            io::Error::new(io::ErrorKind::InvalidInput, problem)
        })?;
        self.torn = true;
        // In one piece: two writes would be two packets.
        let whole = [&length.to_le_bytes(), frame].concat();
        self.half.write_all(&whole).await?;
        self.half.flush().await?;
        self.torn = false;
        Ok(())
    }

    /// Tells the other side that nothing more comes.
    pub async fn close(mut self) -> io::Result<()> {
        self.half.shutdown().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wires() -> (Wire, Wire) {
        let (near, far) = tokio::io::duplex(100);
        (Wire::new(Box::new(near)), Wire::new(Box::new(far)))
    }

    #[tokio::test]
    async fn frames_arrive_whole_and_in_order() {
        let (near, far) = wires();
        let (_, mut writer) = near.split();
        let (mut reader, _far_writer) = far.split();
        let long = vec![7; 200_000];
        let send = async {
            writer.send(b"").await.unwrap();
            writer.send(&long).await.unwrap();
            writer.close().await.unwrap();
        };
        let receive = async {
            assert_eq!(reader.receive(0).await.unwrap().unwrap(), b"");
            assert_eq!(reader.receive(200_000).await.unwrap().unwrap(), long);
            assert_eq!(reader.receive(1).await.unwrap(), None);
        };
        tokio::join!(send, receive);
    }

    #[tokio::test]
    async fn a_frame_that_is_too_long_is_an_error() {
        let (near, far) = wires();
        let (_near_reader, mut writer) = near.split();
        let (mut reader, _far_writer) = far.split();
        writer.send(b"four").await.unwrap();
        let problem = reader.receive(3).await.unwrap_err();
        assert_eq!(problem.to_string(), "a frame of 4 bytes came where at most 3 may");
    }

    #[tokio::test]
    async fn a_torn_frame_is_an_error() {
        for bytes in [&[9][..], &[9, 0, 0, 0], &[9, 0, 0, 0, 1, 2, 3]] {
            let (mut near, far) = tokio::io::duplex(100);
            near.write_all(bytes).await.unwrap();
            drop(near);
            let (mut reader, _writer) = Wire::new(Box::new(far)).split();
            let problem = reader.receive(9).await.unwrap_err();
            assert_eq!(problem.kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_receive_that_is_given_up_loses_nothing() {
        let (mut near, far) = tokio::io::duplex(100);
        let (mut reader, _writer) = Wire::new(Box::new(far)).split();
        for byte in [3, 0, 0, 0, 10, 11] {
            near.write_all(&[byte]).await.unwrap();
            let wait = std::time::Duration::from_millis(1);
            assert!(tokio::time::timeout(wait, reader.receive(3)).await.is_err());
        }
        near.write_all(&[12]).await.unwrap();
        assert_eq!(reader.receive(3).await.unwrap().unwrap(), [10, 11, 12]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_that_is_given_up_is_the_last() {
        let (near, _far) = wires();
        let (_reader, mut writer) = near.split();
        let wait = std::time::Duration::from_millis(1);
        assert!(tokio::time::timeout(wait, writer.send(&[0; 1_000])).await.is_err());
        assert!(writer.send(b"more").await.is_err());
    }
}
