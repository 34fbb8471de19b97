//! How a trained model is served when a run is done.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Duration;

/// Serves a model with a web page when everything else of the run is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Serve {
    /// The `train` step whose model is served, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The port; 8080 unless given, or on this machine any other if that is taken.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// On this machine: the address to listen at. Any but its own (`127.0.0.1`, `localhost`) needs a
    /// `token_file`.
    pub host: String,
    /// On this machine: a file with the token that whoever asks must know; it is made where there is
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
    /// Of a model for faces: a folder with a folder of pictures for each person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gallery: Option<String>,
    /// On this machine, of a model for pictures or faces: a folder of pictures that the page offers to whoever
    /// has none at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples: Option<String>,
    /// How several models answer together.
    pub combine: Together,
    /// Samples that are computed at a time, at most.
    #[schemars(range(min = 1, max = 65_536))]
    pub batch: usize,
    /// How long a request waits for others to be computed with.
    pub wait: Duration,
    /// Requests that may wait; further ones are told to come again.
    #[schemars(range(min = 1, max = 65_536))]
    pub queue: usize,
}

/// How several models answer as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Together {
    /// By vote; the mean decides between equals.
    #[default]
    Vote,
    /// By the mean of all probabilities.
    Mean,
}

impl Serve {
    /// The port where people expect a page, unless the file says another.
    pub const PORT: u16 = 8080;

    /// Whether only this machine reaches it.
    pub fn is_private(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl Together {
    /// Its name in a run file.
    pub fn as_str(self) -> &'static str {
        match self {
            Together::Vote => "vote",
            Together::Mean => "mean",
        }
    }
}

impl Default for Serve {
    fn default() -> Self {
        Serve {
            model: None,
            port: None,
            host: "127.0.0.1".into(),
            token_file: None,
            gallery: None,
            examples: None,
            combine: Together::default(),
            batch: 32,
            wait: Duration::from_secs(0),
            queue: 256,
        }
    }
}
