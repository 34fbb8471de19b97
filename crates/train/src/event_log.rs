//! The file `events.jsonl`: appended to by the one driver of a run, read by everybody.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::event::{Event, Kind, VERSION};
use crate::{Clock, Error};

/// Readers refuse a log beyond this: a run of a month that speaks every second stays below it.
const MAX_LOG_BYTES: u64 = 1 << 30;

/// The driver's end of the log.
pub struct EventLog {
    file: File,
    path: PathBuf,
    /// How long it is.
    bytes: u64,
    next_seq: u64,
    clock: Clock,
}

impl EventLog {
    /// Opens the log for appending, or makes it. A line that a crash tore off at the end is
    /// dropped. Returns the events so far too.
    pub fn open(path: &Path, clock: Clock) -> Result<(Self, Vec<Event>), Error> {
        let at = |error| Error::io(path, error);
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(at)?;
        let bytes = read_bytes(&mut file, path)?;
        let whole = whole_lines(&bytes);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(at)?;
        }
        file.seek(SeekFrom::End(0)).map_err(at)?;
        let events = parse(&bytes[..whole], path)?;
        let next_seq = events.last().map_or(0, |event| event.seq + 1);
        let (path, bytes) = (path.into(), whole as u64);
        Ok((EventLog { file, path, bytes, next_seq, clock }, events))
    }

    /// Appends one event. Events that decide what a later driver does are synced to the disk.
    pub fn append(&mut self, task: Option<&str>, kind: Kind) -> Result<Event, Error> {
        let event = Event {
            v: VERSION,
            seq: self.next_seq,
            ms: self.clock.unix_ms(),
            task: task.map(str::to_owned),
            kind,
        };
        let mut line = serde_json::to_string(&event).expect("an event is plain data");
        line.push('\n');
        let write = |file: &mut File| {
            file.write_all(line.as_bytes())?;
            if decides(&event.kind) { file.sync_data() } else { Ok(()) }
        };
        if let Err(error) = write(&mut self.file) {
            // Half a line would spoil all that come after it.
            let end = self.file.set_len(self.bytes).and_then(|()| self.file.seek(SeekFrom::End(0)));
            return Err(Error::io(&self.path, end.err().unwrap_or(error)));
        }
        self.bytes += line.len() as u64;
        self.next_seq += 1;
        Ok(event)
    }
}

/// Every whole line of a log, whether or not its run goes on. No log yet means no events yet.
pub fn read_events(path: &Path) -> Result<Vec<Event>, Error> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(Error::io(path, error)),
    };
    let bytes = read_bytes(&mut file, path)?;
    parse(&bytes[..whole_lines(&bytes)], path)
}

fn read_bytes(file: &mut File, path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = vec![];
    file.take(MAX_LOG_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
    if bytes.len() as u64 > MAX_LOG_BYTES {
        return Err(Error::Corrupt { path: path.into(), problem: "it is over 1 GiB".into() });
    }
    Ok(bytes)
}

/// How many bytes are whole lines. A crash may cut a line anywhere, within a character too.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

fn parse(bytes: &[u8], path: &Path) -> Result<Vec<Event>, Error> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.enumerate().map(|(number, line)| parse_line(number, line, path)).collect()
}

fn parse_line(number: usize, line: &[u8], path: &Path) -> Result<Event, Error> {
    let wrong = |problem: String| Error::Corrupt {
        path: path.into(),
        problem: format!("line {} {problem}", number + 1),
    };
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    match serde_json::from_slice(line) {
        Ok(Version { v }) if v > VERSION => {
            Err(wrong(format!("is of version {v}: use the newer trainyard that wrote it")))
        }
        _ => serde_json::from_slice(line)
            .map_err(|error| wrong(format!("is not an event of version {VERSION}: {error}"))),
    }
}

/// Whether a driver that takes the run up again acts on this event.
fn decides(kind: &Kind) -> bool {
    !matches!(kind, Kind::Progress(_) | Kind::Fetching { .. } | Kind::Checkpoint { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_dropped_and_numbers_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let (mut log, events) = EventLog::open(&path, Clock::manual()).unwrap();
        assert!(events.is_empty());
        log.append(Some("train"), Kind::Resumed { step: 3, generation: 1 }).unwrap();
        log.append(None, Kind::RunDone {}).unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"v\":1,\"seq\":2,\"reason\":\"\u{e9}");
        // Cut within the last character.
        std::fs::write(&path, &text.as_bytes()[..text.len() - 1]).unwrap();

        assert_eq!(read_events(&path).unwrap().len(), 2);
        let (mut log, events) = EventLog::open(&path, Clock::manual()).unwrap();
        assert_eq!(events[0].kind, Kind::Resumed { step: 3, generation: 1 });
        assert_eq!(log.append(None, Kind::RunDone {}).unwrap().seq, 2);
        assert_eq!(read_events(&path).unwrap().len(), 3);
    }

    #[test]
    fn a_wrong_line_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        std::fs::write(&path, "{}\n").unwrap();
        let error = read_events(&path).unwrap_err().to_string();
        assert!(error.contains("line 1 is not an event"), "{error}");
    }

    #[test]
    fn newer_events_are_passed_over_and_newer_formats_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        let line = r#"{"v":1,"seq":0,"ms":5,"event":"invented_later","with":"fields"}"#;
        std::fs::write(&path, format!("{line}\n")).unwrap();
        assert_eq!(read_events(&path).unwrap()[0].kind, Kind::Unknown);
        std::fs::write(&path, format!("{}\n", line.replace("\"v\":1", "\"v\":2"))).unwrap();
        let error = read_events(&path).unwrap_err().to_string();
        assert!(error.contains("newer trainyard"), "{error}");
    }
}
