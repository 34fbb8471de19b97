//! From a text to a spec: YAML, then `--set`, then the schema, then what it all means.

use crate::error::{Complaint, Path, Source};
use crate::file::RunFile;
use crate::tree::{self, At, FILE_LIMIT, Node};
use crate::{
    Action, Kubernetes, Model, RunSpec, SpecError, Strategy, Train, read, resolve, rule, set,
};

/// Reads a run file. `file` is its name in errors; `sets` change it before it is read, each
/// `path=value` (`train.epochs=5`).
///
/// It never panics, whatever the text.
pub fn parse(text: &str, file: &str, sets: &[String]) -> Result<RunSpec, SpecError> {
    let source = Source { file, text };
    let tree = changed(&source, sets)?;
    let complain = |complaints| source.error(&tree, complaints);
    let json = read::read(&tree).map_err(complain)?;
    let file: RunFile = serde_json::from_value(json)
        .map_err(|error| complain(vec![Complaint::new(Path::default(), error.to_string())]))?;
    resolve::resolve(file).map_err(complain)
}

impl Model {
    /// Reads a network as a run file names it: `mnist-cnn`, `{name: mnist-mlp, hidden_units: 30}`
    /// or a path.
    pub fn parse(text: &str) -> Result<Model, SpecError> {
        let sets = [format!("model={text}")];
        Ok(trained("{name: model, data: mnist-sample}", &sets)?.model)
    }
}

impl Kubernetes {
    /// Reads what a run is given on a cluster, as `on.kubernetes` of a run file has it.
    pub fn parse(text: &str) -> Result<Kubernetes, SpecError> {
        let file = "{name: run, data: mnist-sample, model: mnist-mlp}";
        let spec = parse(file, "kubernetes", &[format!("on.kubernetes={text}")]);
        Ok(spec.map_err(SpecError::without_places)?.on.kubernetes.unwrap_or_default())
    }
}

impl Strategy {
    /// Reads how so many workers train together: `average` or `{average: {sync_every: 50}}`, as a
    /// run file has it, or shorter `average:50`, `average:vote`, `parameter_server:sync`.
    pub fn parse(text: &str, workers: usize) -> Result<Strategy, SpecError> {
        let text = text.trim();
        let long = match text.split_once(':').filter(|(_, word)| !word.is_empty()) {
            Some(("average", word)) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{{average: {{sync_every: {word}}}}}")
            }
            Some(("average", word)) => format!("{{average: {{combine: {word}}}}}"),
            Some(("parameter_server", word)) => format!("{{parameter_server: {{mode: {word}}}}}"),
            _ => text.into(),
        };
        let sets = [format!("train.workers={workers}"), format!("train.strategy={long}")];
        Ok(trained("{name: model, data: mnist-sample, model: mnist-mlp}", &sets)?.strategy)
    }
}

/// How a file in the short form trains, where only what is set can be wrong.
fn trained(file: &str, sets: &[String]) -> Result<Train, SpecError> {
    let spec = parse(file, "model", sets).map_err(SpecError::without_places)?;
    let train = spec.steps.into_iter().find_map(|step| match step.action {
        Action::Train(train) => Some(train),
        _ => None,
    });
    Ok(train.expect("the short form has a training step"))
}

/// The tree of a text with every `--set` applied.
fn changed(source: &Source<'_>, sets: &[String]) -> Result<Node, SpecError> {
    let start = At::File { line: 1, column: 1, width: 0 };
    let fail = |at, path, message, hint: Option<String>| {
        SpecError::one(source.problem(at, path, message, hint))
    };
    if source.text.len() > FILE_LIMIT {
        let message = format!(
            "the file is too large for a run file: over {}",
            crate::Bytes(FILE_LIMIT as u64)
        );
        return Err(fail(start, Path::default(), message, None));
    }
    let tree = tree::read(source.text).map_err(|error| {
        let hint = error.hint.map(str::to_string);
        fail(error.at, Path::default(), error.message, hint)
    })?;
    let mut tree = tree.ok_or_else(|| {
        let hint = "`trainyard init` writes one to start from";
        fail(start, Path::default(), "the file is empty".into(), Some(hint.into()))
    })?;
    for (number, set) in sets.iter().enumerate() {
        set::apply(&mut tree, rule::root(), set, number)
            .map_err(|wrong| fail(At::Set(number), wrong.path, wrong.message, wrong.hint))?;
    }
    Ok(tree)
}
