//! What outlives a run.

use serde_json::{Value, json};
use spec::NewClaim;

use super::super::reach::{IMAGE_NOTE, SETTINGS_NOTE};
use super::Outline;

/// The claim of the volume that a run's folder is on. One that is kept has no owner.
pub fn claim(outline: &Outline<'_>, wanted: &NewClaim) -> Value {
    let owner = outline.owner.filter(|_| !wanted.keep);
    let mut claim = json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": Outline { owner, ..*outline }.metadata(outline.run),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": { "requests": { "storage": wanted.size } },
        },
    });
    // Enough to look into it when all else of the run is gone.
    claim["metadata"]["annotations"] = json!({
        IMAGE_NOTE: outline.image,
        SETTINGS_NOTE: json!(outline.given).to_string(),
    });
    if let Some(class) = &wanted.class {
        claim["spec"]["storageClassName"] = class.as_str().into();
    }
    claim
}
