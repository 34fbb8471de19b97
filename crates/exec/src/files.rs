//! The run's folder for processes on other machines: they read data and models, and write checkpoints
//! and models, through the driver.
//!
//! They have proved the run's secret; all the same they reach only what is theirs. Nobody reads the
//! run's keys, and nobody but the driver writes events; unless it has lost them, and gets a copy back.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use collective::{Reader, Writer};
use plan::{Plan, Role};
use store::{RunDir, Store};
use tokio::sync::mpsc::{Receiver, channel};
use train::files::{
    Answer, Ask, CHUNK, EVENTS, FILES, FOLDERS, Failure, FailureKind, MAX_PUT, hear, say,
};

/// What may be written. Whatever a copy of the folder has may be read.
const WRITE: [&str; 2] = ["checkpoints", "models"];
/// Files of the user's that tasks read: `inputs/<task>/<file>`.
const INPUTS: &str = "inputs";
/// How many chunks of a file may wait to be sent.
const AHEAD: usize = 4;

/// What processes may have of a run's folder. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Files {
    store: Store,
    inputs: Arc<BTreeMap<String, PathBuf>>,
    /// Whether the folder is empty, and a copy of it may be brought.
    lost: bool,
}

impl Files {
    pub(crate) fn of(run: &RunDir, plan: &Plan) -> Result<Files, store::StoreError> {
        let input = |task: &plan::Task| match &task.role {
            Role::Worker { train, .. } => {
                let path = train.model.file()?;
                let file = Path::new(path).file_name()?.to_str()?;
                let name = format!("{INPUTS}/{}/{file}", task.id);
                // A copy of the folder brought its own.
                (!run.path.join(&name).exists()).then(|| (name, path.into()))
            }
            Role::Prepare(_) | Role::Evaluate { .. } => None,
        };
        let inputs = plan.tasks.iter().filter_map(input).collect();
        Ok(Files { store: run.store()?, inputs: Arc::new(inputs), lost: false })
    }

    /// A folder that was lost, for whoever has a copy to fill.
    pub(crate) fn lost(run: &RunDir) -> Result<Files, store::StoreError> {
        Ok(Files { store: run.store()?, inputs: Arc::default(), lost: true })
    }

    /// Answers whatever one process asks, until it hangs up or makes no sense.
    pub(crate) async fn serve(self, mut reader: Reader, mut writer: Writer) -> io::Result<()> {
        while let Some(ask) = hear(&mut reader).await? {
            match ask {
                Ask::Get { path, offset } => self.send(path, offset, &mut writer).await?,
                Ask::Put { path, size, new } => {
                    let bytes = receive(&mut reader, size).await?;
                    let answer = self.aside(move |files| files.put(&path, bytes, new)).await;
                    say(&mut writer, &answer).await?;
                }
                Ask::List { path } => {
                    say(&mut writer, &self.aside(move |files| files.list(&path)).await).await?;
                }
                Ask::Delete { path } => {
                    say(&mut writer, &self.aside(move |files| files.delete(&path)).await).await?;
                }
                Ask::Size { path } => {
                    say(&mut writer, &self.aside(move |files| files.size(&path)).await).await?;
                }
            }
        }
        Ok(())
    }

    /// Does something that may wait for a disk where nobody waits for it.
    async fn aside(
        &self,
        work: impl FnOnce(Files) -> Result<Answer, Failure> + Send + 'static,
    ) -> Answer {
        let files = self.clone();
        let done = tokio::task::spawn_blocking(move || work(files)).await;
        done.map_or_else(
            |error| Answer::Failed(other(&error)),
            |done| done.unwrap_or_else(Answer::Failed),
        )
    }

    async fn send(&self, path: String, offset: u64, writer: &mut Writer) -> io::Result<()> {
        let files = self.clone();
        let (chunks, mut read) = channel(AHEAD);
        tokio::task::spawn_blocking(move || {
            let (size, mut bytes) = match files.open(&path, offset) {
                Ok(found) => found,
                Err(failure) => return drop(chunks.blocking_send(Err(failure))),
            };
            let mut left = size.saturating_sub(offset);
            let _ = chunks.blocking_send(Ok(Piece::Size(size)));
            while left > 0 {
                let mut chunk = vec![0; CHUNK.min(left as usize)];
                // Where it cannot be read on, the line is cut, and it is asked again.
                if bytes.read_exact(&mut chunk).is_err() {
                    return;
                }
                left -= chunk.len() as u64;
                if chunks.blocking_send(Ok(Piece::Chunk(chunk))).is_err() {
                    return;
                }
            }
        });
        forward(&mut read, offset, writer).await
    }

    fn open(&self, path: &str, offset: u64) -> Result<(u64, Box<dyn Read + Send>), Failure> {
        if let Some(input) = self.inputs.get(path) {
            use std::io::Seek as _;
            let mut file = std::fs::File::open(input).map_err(|error| other(&error))?;
            let size = file.metadata().map_err(|error| other(&error))?.len();
            file.seek(io::SeekFrom::Start(offset)).map_err(|error| other(&error))?;
            return Ok((size, Box::new(file)));
        }
        self.allowed(path, false)?;
        let reader = self.store.reader(path, offset)?;
        Ok((reader.size().unwrap_or(0), Box::new(reader)))
    }

    fn put(&self, path: &str, bytes: Vec<u8>, new: bool) -> Result<Answer, Failure> {
        self.allowed(path, true)?;
        match new {
            true => self.store.put_new(path, bytes)?,
            false => self.store.put(path, bytes)?,
        }
        Ok(Answer::Done)
    }

    fn list(&self, path: &str) -> Result<Answer, Failure> {
        self.allowed(path, false)?;
        let entries = self.store.list(path)?;
        let mut files: Vec<_> = entries.into_iter().map(|entry| (entry.path, entry.size)).collect();
        if path == INPUTS {
            let size = |path: &PathBuf| Some(path.metadata().ok()?.len());
            files.extend(
                self.inputs.iter().filter_map(|(name, at)| Some((name.clone(), size(at)?))),
            );
        }
        Ok(Answer::Listed(files))
    }

    fn delete(&self, path: &str) -> Result<Answer, Failure> {
        self.allowed(path, true)?;
        self.store.delete(path)?;
        Ok(Answer::Done)
    }

    fn size(&self, path: &str) -> Result<Answer, Failure> {
        self.allowed(path, false)?;
        Ok(Answer::Size(self.store.size(path)?))
    }

    fn allowed(&self, path: &str, writing: bool) -> Result<(), Failure> {
        let top = &path.split('/').next().unwrap_or_default();
        let copied = FOLDERS.contains(top) || FILES.contains(top) || *top == EVENTS;
        if WRITE.contains(top) || (copied && (!writing || self.lost)) {
            return Ok(());
        }
        let problem = format!("{path} is not for processes of a run to use");
        Err(Failure { kind: FailureKind::Denied, problem })
    }
}

/// What of a file is to be sent.
enum Piece {
    Size(u64),
    Chunk(Vec<u8>),
}

async fn forward(
    pieces: &mut Receiver<Result<Piece, Failure>>,
    offset: u64,
    writer: &mut Writer,
) -> io::Result<()> {
    let mut left = match pieces.recv().await {
        Some(Ok(Piece::Size(size))) => {
            say(writer, &Answer::Size(size)).await?;
            size.saturating_sub(offset)
        }
        Some(Err(failure)) => return say(writer, &Answer::Failed(failure)).await,
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    };
    while let Some(piece) = pieces.recv().await {
        if let Ok(Piece::Chunk(chunk)) = piece {
            left = left.saturating_sub(chunk.len() as u64);
            writer.send(&chunk).await?;
        }
    }
    if left > 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

async fn receive(reader: &mut Reader, size: u64) -> io::Result<Vec<u8>> {
    if size > MAX_PUT {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "too large a file"));
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < size {
        let chunk = reader.receive(CHUNK).await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn other(error: &dyn std::fmt::Display) -> Failure {
    Failure { kind: FailureKind::Other, problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Files {
        let run = RunDir::at(folder);
        for (path, text) in [("join.json", "secret"), ("events.jsonl", "{}"), ("data/a/1", "one")] {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (version, name) = (plan::VERSION, "a".into());
        let plan = Plan { version, run: name, seed: 0, tasks: vec![], serving: None };
        Files::of(&run, &plan).unwrap()
    }

    #[test]
    fn processes_have_what_is_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        let (size, mut bytes) = files.open("data/a/1", 1).unwrap();
        let mut text = String::new();
        bytes.read_to_string(&mut text).unwrap();
        assert_eq!((size, text.as_str()), (3, "ne"));
        assert_eq!(files.list("data").unwrap(), Answer::Listed(vec![("data/a/1".into(), 3)]));
        for new in [true, false] {
            assert_eq!(files.put("models/a/x", b"abc".into(), new).unwrap(), Answer::Done);
        }
        let again = files.put("models/a/x", b"abc".into(), true).unwrap_err();
        assert_eq!(again.kind, FailureKind::AlreadyExists);
        assert_eq!(files.size("models/a/x").unwrap(), Answer::Size(3));
        assert_eq!(files.delete("models/a/x").unwrap(), Answer::Done);
        assert_eq!(files.size("models/a/x").unwrap_err().kind, FailureKind::NotFound);
    }

    #[test]
    fn what_is_not_theirs_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let files = files(folder.path());
        for path in ["join.json", "driver.key", "logs/a", "data/../join.json", "/etc/passwd", ""] {
            let read = files.open(path, 0).err().map(|failure| failure.kind);
            assert_eq!(read, Some(FailureKind::Denied), "{path}");
            assert_eq!(files.size(path).unwrap_err().kind, FailureKind::Denied, "{path}");
            assert_eq!(files.delete(path).unwrap_err().kind, FailureKind::Denied, "{path}");
            let put = files.put(path, vec![], false).unwrap_err();
            assert_eq!(put.kind, FailureKind::Denied, "{path}");
        }
        for path in ["data/a/1", "events.jsonl", "spec.yaml", "inputs/a/b"] {
            assert_eq!(files.put(path, vec![], false).unwrap_err().kind, FailureKind::Denied);
            assert_eq!(files.delete(path).unwrap_err().kind, FailureKind::Denied);
        }
        assert!(files.list("").is_err());
    }

    #[test]
    fn a_folder_that_was_lost_may_be_filled() {
        let folder = tempfile::tempdir().unwrap();
        let lost = Files::lost(&RunDir::at(folder.path())).unwrap();
        for path in ["data/a/1", "events.jsonl", "spec.yaml", "inputs/a/b", "models/a/x"] {
            assert_eq!(lost.put(path, b"abc".into(), false).unwrap(), Answer::Done);
        }
        for path in ["join.json", "driver.key", "logs/a", "../a"] {
            assert_eq!(lost.put(path, vec![], false).unwrap_err().kind, FailureKind::Denied);
        }
    }
}
