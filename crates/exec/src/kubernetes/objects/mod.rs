//! Every object that a run makes on a cluster, as a pure function of what was asked for.
//!
//! They are JSON rather than types: what is merged into pods comes as it is, and `render` prints them.
//! A test reads each of them as its type and writes it again, so that no field is misspelt.

mod access;
mod keep;
mod merge;
mod pod;
mod pool;
mod run;
mod serving;

use serde_json::{Value, json};

use super::names::labels;

pub use access::{POLICY, Rule, network_policy, role, role_binding, service_account};
pub use keep::claim;
pub use pool::{Pool, pool_job, pool_service};
pub(crate) use run::TRIES;
pub use run::{
    INPUTS_FOLDER, RUNS_FOLDER, config_map, driver_job, driver_service_object, probe_pod,
    reader_pod, secret,
};
pub use serving::{Page, model_map};

/// What all objects of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Outline<'a> {
    /// `mnist-1`.
    pub run: &'a str,
    /// Where they are made.
    pub namespace: &'a str,
    /// The image of every pod.
    pub image: &'a str,
    /// What the run file asks for.
    pub given: &'a spec::Kubernetes,
    /// The Job that all of them belong to, by its id, once it is there.
    pub owner: Option<&'a str>,
}

impl Outline<'_> {
    /// What an object is called, and whose it is.
    fn metadata(&self, name: &str) -> Value {
        let mut metadata = json!({
            "name": name,
            "namespace": self.namespace,
            "labels": labels(self.run, None, None),
        });
        if let Some(uid) = self.owner {
            metadata["ownerReferences"] = json!([{
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": self.run,
                "uid": uid,
                "controller": false,
                "blockOwnerDeletion": false,
            }]);
        }
        metadata
    }

    /// The service account of the driver.
    fn account(&self) -> &str {
        self.given.service_account.as_deref().unwrap_or(self.run)
    }
}
