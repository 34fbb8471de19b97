//! The page of a run that is done: the driver lets its pods come before it leaves.

use std::collections::BTreeMap;

use exec::kubernetes::names::page;
use exec::kubernetes::{Api, Site, show_page};
use plan::Serving;
use store::RunDir;

use crate::{output, pack};

/// Has the page shown. Where that fails the run is done all the same, and it is said what is missing. A folder that is
/// in this pod alone goes with it, so that the model is put where pods find it.
pub(super) async fn show(api: &Api, site: &Site, (run, serving): (&RunDir, &Serving), alone: bool) {
    let name = page(&site.run, &serving.id);
    let shown = async {
        let model = if alone { Some(files(run, &serving.model)?) } else { None };
        anyhow::Ok(show_page(api, (site, &name), model.as_ref()).await?)
    };
    match shown.await {
        Ok(()) => output::talk(&format!("the Deployment {name} serves the model")),
        Err(error) => output::talk(&format!(
            "the run is done, but its page is not shown: {error:#}; `kubectl scale deployment {name} --replicas 1` \
             shows it where the model is on a volume"
        )),
    }
}

/// The files of a model, which are in one folder, and the report that says how good it is; by names that a ConfigMap
/// takes.
fn files(run: &RunDir, model: &str) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let all = pack::files(&run.model(model))?.into_iter().map(|(_, path)| path);
    let named = all.chain([run.report()]).map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, std::fs::read(path)?))
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_volume_has_names_without_folders() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let run = RunDir::at(folder.path());
        let model = run.model("train");
        std::fs::create_dir_all(&model).expect("it can be made");
        for path in [model.join("0.safetensors"), model.join("ensemble.json"), run.report()] {
            std::fs::write(path, "x").expect("it can be written");
        }
        let found = files(&run, "train").expect("all is there");
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["0.safetensors", "ensemble.json", "report.json"]);
    }
}
