//! Where processes call the driver: every connection that proved the run's secret becomes a line.

use std::time::Duration;

use crate::files::Files;
use collective::{Door, Reader, Wire, Writer};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};
use tokio::time::timeout;
use train::message::{Hello, MAX_FRAME, ToDriver, ToProcess};

/// How many messages of processes may wait; then the processes do.
const QUEUE: usize = 1024;
/// How long a caller may take to say who it is, and a message to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is heard on the lines.
pub(crate) enum Heard {
    /// A process says who it is.
    Hello(u64, Box<Hello>, UnboundedSender<ToProcess>),
    /// A process says something.
    Said(u64, ToDriver),
    /// A line is dead.
    Closed(u64),
}

/// Answers every caller from now on. Lines are numbered.
pub(crate) fn open(mut door: Door, files: Files) -> Receiver<Heard> {
    let (sender, inbox) = channel(QUEUE);
    tokio::spawn(async move {
        let mut line = 0;
        while let Ok(wire) = door.accept().await {
            line += 1;
            tokio::spawn(attend(line, wire, sender.clone(), files.clone()));
        }
    });
    inbox
}

async fn attend(line: u64, wire: Wire, sender: Sender<Heard>, files: Files) {
    let (mut reader, writer) = wire.split();
    let hello = match timeout(PATIENCE, hear(&mut reader)).await {
        Ok(Some(ToDriver::Hello(hello))) => hello,
        // What goes wrong on such a line its process sees, and asks again.
        Ok(Some(ToDriver::Files)) => return drop(files.serve(reader, writer).await),
        _ => return,
    };
    let (out, words) = unbounded_channel();
    if sender.send(Heard::Hello(line, hello, out)).await.is_err() {
        return;
    }
    tokio::select! {
        biased;
        () = listen(line, &mut reader, &sender) => {}
        () = speak(writer, words) => {}
    }
    let _ = sender.send(Heard::Closed(line)).await;
}

async fn listen(line: u64, reader: &mut Reader, sender: &Sender<Heard>) {
    while let Some(words) = hear(reader).await {
        if sender.send(Heard::Said(line, words)).await.is_err() {
            return;
        }
    }
}

/// Ends when the driver hangs up, or the process no longer takes what it is told.
async fn speak(mut writer: Writer, mut words: UnboundedReceiver<ToProcess>) {
    while let Some(words) = words.recv().await {
        let frame = serde_json::to_vec(&words).expect("messages are plain data");
        if !matches!(timeout(PATIENCE, writer.send(&frame)).await, Ok(Ok(()))) {
            return;
        }
    }
}

/// The next message. Nothing where the line is dead or does not speak our language.
async fn hear(reader: &mut Reader) -> Option<ToDriver> {
    let frame = reader.receive(MAX_FRAME).await.ok()??;
    serde_json::from_slice(&frame).ok()
}
