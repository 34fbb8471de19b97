//! A namespace of a cluster, and the right to ask it things.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::{Client, Config};
use serde_json::Value;

/// What goes wrong between us and a cluster.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no cluster to be found.
    #[error("cannot find a cluster: {0}; is KUBECONFIG set, and the context right?")]
    Config(String),
    /// The cluster does not do what it is asked.
    #[error("the cluster does not {what}: {problem}")]
    Refused {
        /// What it was asked, as `create the Job mnist-1`.
        what: String,
        /// What it says.
        problem: String,
        /// Its answer, as HTTP has it; 0 where it did not answer.
        code: u16,
    },
    /// Something is not there, or not as it should be.
    #[error("{0}")]
    Wrong(String),
}

impl ClusterError {
    /// What the cluster said to something that it was asked.
    pub(crate) fn of(what: &str, error: &kube::Error) -> ClusterError {
        let (problem, code) = match error {
            kube::Error::Api(status) => (status.message.clone(), status.code),
            other => (other.to_string(), 0),
        };
        ClusterError::Refused { what: what.to_owned(), problem, code }
    }

    /// The cluster's answer as a number; 0 where there was none.
    pub fn code(&self) -> u16 {
        match self {
            ClusterError::Refused { code, .. } => *code,
            _ => 0,
        }
    }

    /// Whether the same may work a little later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.code(), 0 | 429 | 500..)
    }
}

/// A namespace of a cluster.
#[derive(Clone)]
pub struct Api {
    client: Client,
    /// Its name.
    pub namespace: String,
}

/// The cluster that the user's settings name.
pub async fn connect(context: Option<&str>, namespace: Option<&str>) -> Result<Api, ClusterError> {
    let wrong = |error: &dyn std::fmt::Display| ClusterError::Config(error.to_string());
    let file = Kubeconfig::read().map_err(|error| wrong(&error))?;
    let options =
        KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(file, &options).await;
    open(config.map_err(|error| wrong(&error))?, namespace)
}

/// The cluster that this pod is in.
pub fn in_cluster(namespace: &str) -> Result<Api, ClusterError> {
    let config = Config::incluster().map_err(|error| ClusterError::Config(error.to_string()))?;
    open(config, Some(namespace))
}

fn open(config: Config, namespace: Option<&str>) -> Result<Api, ClusterError> {
    let namespace = namespace.map_or_else(|| config.default_namespace.clone(), str::to_owned);
    let client = Client::try_from(config);
    let client = client.map_err(|error| ClusterError::Config(error.to_string()))?;
    Ok(Api { client, namespace })
}

impl std::fmt::Debug for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Api({})", self.namespace)
    }
}

impl Api {
    /// Makes an object. What it is called says all the rest.
    pub async fn create(&self, object: &Value) -> Result<DynamicObject, ClusterError> {
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        let api = self.any(text(&object["apiVersion"]), kind);
        let object: DynamicObject = serde_json::from_value(object.clone())
            .map_err(|error| ClusterError::Wrong(format!("{kind} {name}: {error}")))?;
        let made = api.create(&PostParams::default(), &object).await;
        made.map_err(|error| ClusterError::of(&format!("create the {kind} {name}"), &error))
    }

    /// Objects of a kind.
    pub fn any(&self, version: &str, kind: &str) -> kube::Api<DynamicObject> {
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let plural = match kind {
            "NetworkPolicy" => "networkpolicies".to_owned(),
            kind => format!("{}s", kind.to_lowercase()),
        };
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
        kube::Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    /// Pods.
    pub fn pods(&self) -> kube::Api<Pod> {
        kube::Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Jobs.
    pub fn jobs(&self) -> kube::Api<Job> {
        kube::Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// What the cluster says of its objects.
    pub fn events(&self) -> kube::Api<Event> {
        kube::Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The whole cluster.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
