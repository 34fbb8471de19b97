//! What cargo knows about the workspace, from `cargo metadata`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::tree;

/// Cargo, asked as a person would. What cargo told this program about itself stays here: build scripts of others look at
/// such variables, and everything above them would be compiled again when they are now set and now not.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// The packages of the workspace, and where it builds.
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) target: PathBuf,
}

/// One of our packages.
pub(crate) struct Package {
    /// As the design names it: `spec`, not `trainyard-spec`.
    pub(crate) name: String,
    /// Our packages that it uses, tests left out.
    pub(crate) uses: Vec<String>,
    /// The root file of its library and of each binary.
    pub(crate) roots: Vec<PathBuf>,
}

impl Workspace {
    /// Asks cargo. Needs no network: dependencies of others are not resolved.
    pub(crate) fn read() -> Result<Workspace> {
        let output = cargo()
            .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
            .current_dir(tree::root())
            .output()
            .context("cannot run cargo")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo metadata: {}", complaint.trim());
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        Ok(Workspace {
            packages: items(&metadata["packages"]).map(package).collect(),
            target: text(&metadata["target_directory"]).into(),
        })
    }
}

fn package(value: &Value) -> Package {
    let ours = |dependency: &&Value| dependency["path"].is_string() && dependency["kind"] != "dev";
    let is_root =
        |target: &&Value| items(&target["kind"]).any(|kind| kind == "lib" || kind == "bin");
    Package {
        name: short(&text(&value["name"])),
        uses: items(&value["dependencies"])
            .filter(ours)
            .map(|used| short(&text(&used["name"])))
            .collect(),
        roots: items(&value["targets"])
            .filter(is_root)
            .map(|target| text(&target["src_path"]).into())
            .collect(),
    }
}

/// The binary's package is called as the binary is; all others carry the project's name before
/// their own.
fn short(name: &str) -> String {
    match name.strip_prefix("trainyard-") {
        Some(rest) => rest.to_string(),
        None if name == "trainyard" => "cli".to_string(),
        None => name.to_string(),
    }
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}
