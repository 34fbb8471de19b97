//! How the program runs in an image. `deploy/Dockerfile` says the same in its own words, and a test
//! here holds one against the other.

use serde_json::{Value, json};

use super::elf::Machine;

/// The user and its group, by number: Kubernetes checks `runAsNonRoot` by it.
pub(super) const USER: u32 = 65532;
pub(super) const USER_NAME: &str = "trainyard";
/// The one folder that is the user's, where a volume goes.
pub(super) const RUNS: &str = "/runs";
pub(super) const PROGRAM: &str = "/usr/bin/trainyard";

const TITLE: &str = "trainyard";
/// Downloads lie beside the runs, so that one volume is all it takes.
const ENV: [&str; 3] = ["PATH=/usr/bin", "TRAINYARD_RUNS=/runs", "TRAINYARD_CACHE=/runs/.cache"];

/// The same binary gives the same image, so no time is told.
const CREATED: &str = "1970-01-01T00:00:00Z";

/// The config of an image whose layers, unpacked, have these digests.
pub(super) fn config(machine: Machine, layers: &[(&str, &str)]) -> Value {
    let history = |(made_of, _): &(&str, &str)| json!({ "created": CREATED, "created_by": format!("cargo xtask image: {made_of}") });
    json!({
        "created": CREATED,
        "architecture": machine.architecture(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ENV,
            "Entrypoint": [PROGRAM],
            "WorkingDir": RUNS,
            "Labels": {
                "org.opencontainers.image.title": TITLE,
                "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
                "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
            },
        },
        "rootfs": {
            "type": "layers",
            "diff_ids": layers.iter().map(|(_, digest)| digest).collect::<Vec<_>>(),
        },
        "history": layers.iter().map(history).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows an instruction in the last stage of the Dockerfile, each time it is there.
    fn instructions<'a>(dockerfile: &'a str, name: &str) -> Vec<&'a str> {
        let last = dockerfile.rfind("\nFROM ").map_or(dockerfile, |start| &dockerfile[start..]);
        let lines = last.lines().filter_map(|line| line.split_once(' '));
        lines.filter(|(word, _)| *word == name).map(|(_, rest)| rest.trim()).collect()
    }

    #[test]
    fn the_dockerfile_makes_an_image_that_runs_alike() {
        let path = crate::tree::root().join("deploy/Dockerfile");
        let dockerfile = std::fs::read_to_string(path).unwrap();
        let ours = &config(Machine::Amd64, &[])["config"];
        assert_eq!(instructions(&dockerfile, "USER"), [ours["User"].as_str().unwrap()]);
        assert_eq!(instructions(&dockerfile, "WORKDIR"), [ours["WorkingDir"].as_str().unwrap()]);
        let [entrypoint] = instructions(&dockerfile, "ENTRYPOINT")[..] else {
            panic!("one ENTRYPOINT is expected");
        };
        assert_eq!(serde_json::from_str::<Value>(entrypoint).unwrap(), ours["Entrypoint"]);
        let is_path = |setting: &&&str| setting.starts_with("PATH=");
        let settings: Vec<&&str> = ENV.iter().filter(|setting| !is_path(setting)).collect();
        let told = instructions(&dockerfile, "ENV");
        assert_eq!(told.iter().collect::<Vec<_>>(), settings);
        let labels = instructions(&dockerfile, "LABEL").concat();
        for label in ["title", "licenses"].map(|part| format!("org.opencontainers.image.{part}")) {
            let value = ours["Labels"][&label].as_str().unwrap();
            assert!(labels.contains(&format!("{label}=\"{value}\"")), "{label} differs: {labels}");
        }
    }

    #[test]
    fn the_dockerfile_builds_with_our_toolchain() {
        let read = |path| std::fs::read_to_string(crate::tree::root().join(path)).unwrap();
        let channel = read("rust-toolchain.toml");
        let version = channel.split("channel = \"").nth(1).and_then(|rest| rest.split('"').next());
        let image = format!("FROM rust:{}-", version.unwrap());
        assert!(read("deploy/Dockerfile").contains(&image), "no stage begins with {image}");
    }
}
