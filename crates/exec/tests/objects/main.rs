//! The objects that runs make on a cluster, with many settings: what they look like, that they say
//! nothing that Kubernetes does not know, that their pods may do little, and that they are small.
//!
//! What they look like is written down in the YAML files beside this one. To renew these, delete them
//! and run the test.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod restricted;
mod settings;
mod sizes;
mod snapshots;
mod types;
