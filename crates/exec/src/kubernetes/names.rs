//! What things of a run are called on a cluster, and how they are labelled.

use serde_json::{Value, json};

/// The longest name that a pod of a Job may have as its host name, its number left out.
const LONGEST: usize = 52;

/// The label that every object of a run has.
pub const RUN_LABEL: &str = "trainyard/run";
/// The label with the name of the run, its number left out.
pub const NAME_LABEL: &str = "trainyard/name";
/// The label with the task that a pod works on.
pub const TASK_LABEL: &str = "trainyard/task";

/// Where the driver listens, and workers, servers and pages do, unless the file says.
pub const DRIVER_PORT: u16 = 7070;
const WORKER_PORT: u16 = 9000;
const SERVER_PORT: u16 = 8000;
const PAGE_PORT: u16 = 8080;

/// What pods are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Drives the run, prepares and evaluates.
    Driver,
    /// Trains.
    Worker,
    /// Holds weights.
    Server,
    /// Shows what a run has left.
    Reader,
    /// Serves the model.
    Serve,
}

impl Part {
    /// The word for it in labels.
    pub fn name(self) -> &'static str {
        match self {
            Part::Driver => "driver",
            Part::Worker => "worker",
            Part::Server => "server",
            Part::Reader => "reader",
            Part::Serve => "serve",
        }
    }

    /// What the run file says of such pods.
    pub fn pods(self, given: &spec::Kubernetes) -> &spec::Pods {
        match self {
            Part::Driver | Part::Reader => &given.driver,
            Part::Worker => &given.workers,
            Part::Server => &given.servers,
            Part::Serve => &given.serve,
        }
    }

    /// Where such pods listen.
    pub fn port(self, given: &spec::Kubernetes) -> u16 {
        let usual = match self {
            Part::Driver | Part::Reader => DRIVER_PORT,
            Part::Worker => WORKER_PORT,
            Part::Server => SERVER_PORT,
            Part::Serve => PAGE_PORT,
        };
        self.pods(given).port.unwrap_or(usual)
    }
}

/// The labels of an object. `run` is `mnist-1`.
pub fn labels(run: &str, part: Option<Part>, task: Option<&str>) -> Value {
    let mut labels = json!({
        "app.kubernetes.io/name": "trainyard",
        "app.kubernetes.io/instance": run,
        "app.kubernetes.io/version": env!("CARGO_PKG_VERSION"),
        "app.kubernetes.io/managed-by": "trainyard",
        RUN_LABEL: run,
        NAME_LABEL: name_of(run),
    });
    if let Some(part) = part {
        labels["app.kubernetes.io/component"] = part.name().into();
    }
    if let Some(task) = task {
        labels[TASK_LABEL] = task.into();
    }
    labels
}

/// What tells the pods of a run's driver from all others.
pub(crate) fn driver_selector(run: &str) -> String {
    format!("{RUN_LABEL}={run},app.kubernetes.io/component={}", Part::Driver.name())
}

/// What tells the pods that serve a run's model from all others.
pub(crate) fn page_selector(run: &str) -> String {
    format!("{RUN_LABEL}={run},app.kubernetes.io/component={}", Part::Serve.name())
}

/// The name of a run without its number.
pub fn name_of(run: &str) -> &str {
    run.rsplit_once('-').map_or(run, |(name, _)| name)
}

/// The number of a run, where it is one of this name.
pub fn number_of(run: &str, name: &str) -> Option<u32> {
    run.strip_prefix(name)?.strip_prefix('-')?.parse().ok()
}

/// The Service by which the driver is reached.
pub fn driver_service(run: &str) -> String {
    format!("{run}-driver")
}

/// The Job of a task's workers or servers. Where each worker has nodes of its own there is one for
/// each of their places.
pub fn pool(run: &str, task: &str, part: Part, place: Option<usize>) -> String {
    let mut name = format!("{run}-{task}");
    if part == Part::Server {
        name.push_str("-servers");
    }
    if let Some(place) = place {
        name.push_str(&format!("-{place}"));
    }
    fit(name)
}

/// What all objects of a run's page are called, by the step that serves.
pub fn page(run: &str, step: &str) -> String {
    fit(format!("{run}-{step}"))
}

/// A name that is short enough, and still no other's.
fn fit(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    // FNV-1a: told apart is all they need to be.
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = name.bytes().fold(2_166_136_261, mix);
    let kept = name[..LONGEST - 9].trim_end_matches('-');
    format!("{kept}-{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_no_two_are_alike() {
        assert_eq!(pool("mnist-1", "train", Part::Worker, None), "mnist-1-train");
        assert_eq!(pool("mnist-1", "train", Part::Worker, Some(2)), "mnist-1-train-2");
        assert_eq!(pool("mnist-1", "train", Part::Server, None), "mnist-1-train-servers");
        let long = "a".repeat(40);
        let all =
            [0, 1, 2].map(|place| pool(&format!("{long}-7"), &long, Part::Worker, Some(place)));
        assert!(all.iter().all(|name| name.len() <= LONGEST), "{all:?}");
        assert!(all[0] != all[1] && all[1] != all[2], "{all:?}");
    }

    #[test]
    fn a_run_has_a_name_and_a_number() {
        assert_eq!(name_of("mnist-ps-12"), "mnist-ps");
        assert_eq!(number_of("mnist-12", "mnist"), Some(12));
        assert_eq!(number_of("mnist-ps-12", "mnist"), None);
    }
}
