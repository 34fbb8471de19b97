//! Runs on Kubernetes.
//!
//! A run is a Job of one pod, its **driver**, which prepares and evaluates itself and has an Indexed Job
//! for the workers of each task that trains, and for its servers. [`objects`] says what each of these
//! looks like, purely. [`Cluster`] is the driver's [`Launcher`](crate::Launcher) there.

mod api;
mod cluster;
mod hands;
mod log;
pub mod names;
pub mod objects;
mod seats;
mod trouble;
mod watch;

pub use api::{Api, ClusterError, connect, in_cluster};
pub use cluster::{Cluster, Site, address, give_up};
pub use trouble::{PodState, pod_state};
