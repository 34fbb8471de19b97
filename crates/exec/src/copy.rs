//! A copy of the run's folder with one of its processes, where the driver's own is lost with its pod; and
//! a driver that finds its folder empty, and gets it back.

use std::sync::Arc;
use std::time::Duration;

use collective::{Net, Reader, Wire, Writer};
use store::RunDir;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use train::files::{FILES, FOLDERS};
use train::message::{MAX_FRAME, ToDriver, ToProcess};

use crate::drive::Drive;
use crate::files::Files;
use crate::{ExecError, door};

/// Between two looks whether all is there.
const LOOK: Duration = Duration::from_millis(100);

impl Drive<'_> {
    /// Sees to it that a process keeps a copy: one on another machine than the driver's, if it can be.
    pub(crate) fn have_copy_kept(&mut self) {
        let speaks = |process: u32| self.troops.values().any(|t| t.lines.contains_key(&process));
        if !self.driver.copied || self.copyist.is_some_and(speaks) {
            return;
        }
        let placed = self.troops.values().flat_map(|troop| troop.placed.iter().copied());
        let near = |process: &u32| self.driver.launcher.is_near(*process);
        self.copyist = placed.filter(|process| speaks(*process)).min_by_key(near);
        if let Some(process) = self.copyist {
            let says = self.troops.values().filter(|troop| troop.lines.contains_key(&process));
            says.for_each(|troop| troop.say(process, ToProcess::KeepCopy));
        }
    }
}

/// Waits for a process that has a copy of the run's folder, and takes it. Whether one came in time;
/// otherwise the folder is empty again.
pub async fn restore(
    run: &RunDir,
    listen: &str,
    net: Arc<dyn Net>,
    patience: Duration,
) -> Result<bool, ExecError> {
    let mut door = door::open(run, listen, &net, true).await?;
    let files = Files::lost(run)?;
    let mut lines = JoinSet::new();
    let callers = async {
        while let Ok(wire) = door.accept().await {
            lines.spawn(attend(wire, files.clone()));
        }
    };
    let whole = async {
        while !run.events().exists() {
            sleep(LOOK).await;
        }
    };
    let came = tokio::select! {
        () = callers => false,
        came = timeout(patience, whole) => came.is_ok(),
    };
    lines.shutdown().await;
    if !came {
        forget(run);
    }
    Ok(came)
}

/// Removes what is there of a copy that never came whole.
fn forget(run: &RunDir) {
    FOLDERS.iter().for_each(|folder| drop(std::fs::remove_dir_all(run.path.join(folder))));
    FILES.iter().for_each(|file| drop(std::fs::remove_file(run.path.join(file))));
}

/// Takes what one brings. Who only says hello is kept waiting: there will be a driver soon.
async fn attend(wire: Wire, files: Files) {
    let (mut reader, writer): (Reader, Writer) = wire.split();
    let words = reader.receive(MAX_FRAME).await.ok().flatten();
    match words.and_then(|words| serde_json::from_slice(&words).ok()) {
        Some(ToDriver::Files) => drop(files.serve(reader, writer).await),
        Some(_) => std::future::pending().await,
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use collective::{Access, Secret, Sockets, knock};
    use train::Join;
    use train::files::{Answer, Ask, EVENTS, hear, say};

    use super::*;

    /// Brings one file to whoever answers at a run's address, and hears the answer.
    async fn bring(run: &RunDir, file: &str) -> Option<Answer> {
        let join = loop {
            if let Ok(join) = Join::read(&run.join()) {
                break join;
            }
            sleep(LOOK).await;
        };
        let access = Access::secure(Secret::from_hex(&join.secret).unwrap());
        let wire = knock(&Sockets, &join.address, &join.fingerprint, &access).await.unwrap();
        let (mut reader, mut writer) = wire.split();
        say(&mut writer, &ToDriver::Files).await.unwrap();
        let ask = Ask::Put { path: file.into(), size: 3, new: true };
        say(&mut writer, &ask).await.unwrap();
        writer.send(b"abc").await.unwrap();
        hear(&mut reader).await.ok().flatten()
    }

    #[tokio::test]
    async fn a_folder_is_back_when_its_events_are() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::at(folder.path());
        let patience = Duration::from_secs(600);
        let restoring = restore(&run, "127.0.0.1:0", Arc::new(Sockets), patience);
        let bringing = async {
            assert_eq!(bring(&run, "data/a/1").await, Some(Answer::Done));
            // With these all is there, and whoever waited may have hung up.
            bring(&run, EVENTS).await;
        };
        let (back, ()) = tokio::join!(restoring, bringing);
        assert!(back.unwrap());
        assert!(folder.path().join("data/a/1").exists() && run.events().exists());
    }

    #[tokio::test]
    async fn half_a_folder_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::at(folder.path());
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(run.spec(), "half").unwrap();
        let waiting = restore(&run, "127.0.0.1:0", Arc::new(Sockets), Duration::ZERO);
        assert!(!waiting.await.unwrap());
        assert!(!run.spec().exists() && !folder.path().join("data").exists());
    }
}
