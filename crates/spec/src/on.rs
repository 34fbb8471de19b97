//! Where a run may take place beside this machine, and what it is given there. Nothing here changes
//! what is computed.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a run is given in each place that it may take place in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct On {
    /// What it is given on Kubernetes, with `--on kubernetes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Kubernetes>,
}

/// What a run is given on Kubernetes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kubernetes {
    /// The image of every pod; `--image` chooses another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// A service account that may do what the driver does; where one is named, none is made, and no
    /// Role either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<String>,
    /// Where the run's folder lies.
    #[serde(default)]
    pub storage: Storage,
    /// The driver's pod, which also prepares and evaluates.
    #[serde(default)]
    pub driver: Pods,
    /// The pods that train.
    #[serde(default)]
    pub workers: Pods,
    /// The pods that hold weights for them, where weights lie on servers.
    #[serde(default)]
    pub servers: Pods,
    /// The pods that serve the model, where the run ends with a page.
    #[serde(default, skip_serializing_if = "Pods::is_usual")]
    pub serve: Pods,
    /// How others on the network reach the page; `trainyard open` does in any case.
    #[serde(default, skip_serializing_if = "Service::is_usual")]
    pub service: Service,
    /// Merged into every pod as it is, in the words of Kubernetes: tolerations, pull secrets, labels.
    #[serde(default, skip_serializing_if = "Pod::is_empty")]
    pub pod: Pod,
}

/// How others on the network reach a page, in the words of Kubernetes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Service {
    /// Within the cluster alone.
    #[default]
    ClusterIP,
    /// At a port of every node, which the cluster chooses.
    NodePort,
    /// At an address of its own, where the cluster gives such.
    LoadBalancer,
}

impl Service {
    /// Its name in a run file, and on a cluster.
    pub fn as_str(self) -> &'static str {
        match self {
            Service::ClusterIP => "ClusterIP",
            Service::NodePort => "NodePort",
            Service::LoadBalancer => "LoadBalancer",
        }
    }

    fn is_usual(&self) -> bool {
        *self == Service::default()
    }
}

/// Where a run's folder lies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Storage {
    /// On a new volume where the cluster has a default class of them, else in the driver's pod.
    #[default]
    Auto,
    /// In the driver's pod, which waits an hour after the end for somebody to fetch what it made.
    None,
    /// On a new volume.
    Pvc(NewClaim),
    /// On a volume that is there: the name of its claim.
    Claim(String),
}

/// A volume to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewClaim {
    /// How large it is.
    #[schemars(extend("format" = "quantity"))]
    pub size: String,
    /// Of which class; the cluster's default class where it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Whether it stays when the run is removed.
    pub keep: bool,
}

impl Default for NewClaim {
    fn default() -> Self {
        NewClaim { size: "1Gi".into(), class: None, keep: true }
    }
}

/// What pods of one kind are given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pods {
    /// Which nodes they may run on: one for all of them, or a list with one for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// What each of them must be given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: Amounts,
    /// What each of them is given at most.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: Amounts,
    /// Where they are reached; 7070 for the driver, 9000 for workers, 8000 for servers, 8080 for those that
    /// serve.
    #[schemars(range(min = 1024))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// Amounts by their names in Kubernetes: `{cpu: 200m, memory: 125Mi}`.
pub type Amounts = BTreeMap<String, String>;

/// Labels that a node must have.
pub type Labels = BTreeMap<String, String>;

/// Which nodes pods may run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodeSelector {
    /// All of them.
    All(Labels),
    /// Each of them.
    Each(Vec<Labels>),
}

impl Pods {
    fn is_usual(&self) -> bool {
        *self == Pods::default()
    }

    /// The labels that a node must have for the pod in a place, counted from 0. Where there are more
    /// places than labels, they are taken in turn.
    pub fn labels(&self, place: usize) -> Option<&Labels> {
        match self.node_selector.as_ref()? {
            NodeSelector::All(labels) => Some(labels),
            NodeSelector::Each(each) => each.get(place.checked_rem(each.len())?),
        }
    }
}

/// Part of a pod in the words of Kubernetes, taken as it is: `{spec: …}` and `{metadata: …}` where it
/// has one of those, otherwise what belongs into the spec.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pod(pub Map<String, Value>);

impl Pod {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl JsonSchema for Pod {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pod".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "x-any": true })
    }
}
