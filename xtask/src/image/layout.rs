//! One archive in two forms at once, both over the same blobs: an OCI image layout (`oci-layout`,
//! `index.json`), which containerd, podman and skopeo read, and what `docker save` writes
//! (`manifest.json`), which every `docker load` does.

use anyhow::Result;
use serde_json::{Value, json};

use super::config::config;
use super::elf::Machine;
use super::layer::{Layer, digest};
use super::reference::Reference;
use super::tar::Tar;

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The archive of an image, with its layers from the bottom to the top.
pub(super) fn archive(name: &Reference, machine: Machine, layers: &[Layer]) -> Result<Vec<u8>> {
    let mut tar = Tar::default();
    let known: Vec<_> = layers.iter().map(|layer| (layer.made_of, &*layer.unpacked)).collect();
    let config = blob(&mut tar, CONFIG, text(&config(machine, &known))?);
    let mut descriptors = vec![];
    for layer in layers {
        descriptors.push(blob(&mut tar, LAYER, layer.packed.clone()));
    }
    let docker = json!([{
        "Config": path(&config),
        "RepoTags": [name.to_string()],
        "Layers": descriptors.iter().map(path).collect::<Vec<_>>(),
    }]);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": descriptors,
    });
    let mut manifest = blob(&mut tar, MANIFEST, text(&manifest)?);
    manifest["platform"] = json!({ "architecture": machine.architecture(), "os": "linux" });
    manifest["annotations"] = json!({
        "io.containerd.image.name": name.to_string(),
        "org.opencontainers.image.ref.name": name.tag(),
    });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest] });
    tar.file("oci-layout", 0o644, *br#"{"imageLayoutVersion":"1.0.0"}"#);
    tar.file("index.json", 0o644, text(&index)?);
    tar.file("manifest.json", 0o644, text(&docker)?);
    tar.bytes()
}

/// Puts a blob where its digest says, and returns what points at it.
fn blob(tar: &mut Tar, kind: &str, contents: Vec<u8>) -> Value {
    let descriptor =
        json!({ "mediaType": kind, "digest": digest(&contents), "size": contents.len() });
    tar.file(&path(&descriptor), 0o644, contents);
    descriptor
}

fn path(descriptor: &Value) -> String {
    let digest = descriptor["digest"].as_str().unwrap_or_default();
    format!("blobs/{}", digest.replace(':', "/"))
}

fn text(value: &Value) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}
