//! Runs on Kubernetes.
//!
//! A run is a Job of one pod, its **driver**, which prepares and evaluates itself and has an Indexed Job
//! for the workers of each task that trains, and for its servers. [`objects`] says what each of these
//! looks like, purely. [`Cluster`] is the driver's [`Launcher`](crate::Launcher) there.

mod api;
mod cluster;
mod denials;
mod doctor;
mod follow;
mod hands;
mod herald;
mod log;
pub mod names;
pub mod objects;
mod page;
mod reach;
mod runs;
mod seats;
mod submit;
mod trouble;
mod watch;

pub use api::{Api, ClusterError, connect, in_cluster};
pub use cluster::{Cluster, Site, address, give_up};
pub use doctor::{Finding, examine};
pub use follow::{Ended, Heard, follow};
pub use herald::Herald;
pub use objects::{INPUTS_FOLDER, Page, RUNS_FOLDER};
pub use page::{MOST_WITHOUT_VOLUME, PageReach, show_page};
pub use reach::{Reach, driver_pod};
pub use runs::{ListedRun, goes_on, remove, runs, why};
pub use submit::{Before, Request, Volume, before, newest, resume, submit, volume};
pub use trouble::{PodState, pod_state};
