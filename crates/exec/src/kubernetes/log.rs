//! What a pod prints, written down where it outlives the pod.

use std::path::PathBuf;
use std::time::Duration;

use futures::AsyncReadExt;
use kube::api::LogParams;
use tokio::time::sleep;

use super::api::Api;
use super::denials::Denials;

/// How often in a row it is tried again where the cluster does not answer, and how long between.
const TRIES: usize = 30;
const PAUSE: Duration = Duration::from_secs(1);
/// What is lost where logs may not be read.
const NO_LOGS: &str = "what pods print is not kept";

/// Copies a pod's log to a file until the pod ends. When the cluster cuts it off it begins anew, from the
/// beginning, for a pod's log is there as long as the pod is.
pub(crate) async fn follow(
    api: Api,
    (pod, container): (String, String),
    path: PathBuf,
    denials: Denials,
) {
    let how = LogParams { follow: true, container: Some(container), ..LogParams::default() };
    let mut tries = 0;
    while tries < TRIES {
        tries += 1;
        match api.pods().log_stream(&pod, &how).await {
            Ok(stream) => {
                if copy(stream, &path).await {
                    return;
                }
                // Quiet streams are cut every few minutes, and training may be quiet for days.
                tries = 0;
            }
            // It is gone, and its log with it.
            Err(kube::Error::Api(status)) if status.code == 404 => return,
            Err(error) if denials.take(NO_LOGS, &error) => return,
            Err(_) => {}
        }
        sleep(PAUSE).await;
    }
}

/// Whether the log was read to its end.
async fn copy(mut log: impl futures::AsyncBufRead + Unpin, path: &PathBuf) -> bool {
    use std::io::Write as _;
    let _ = path.parent().map(std::fs::create_dir_all);
    let Ok(mut file) = std::fs::File::create(path) else { return true };
    let mut bytes = vec![0; 1 << 14];
    loop {
        match log.read(&mut bytes).await {
            Ok(0) => return true,
            Ok(read) if file.write_all(&bytes[..read]).is_ok() => {}
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
}
