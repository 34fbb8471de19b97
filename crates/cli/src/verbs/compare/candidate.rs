//! What is compared: a run file with another strategy in it.

use anyhow::anyhow;
use sha2::{Digest, Sha256};
use spec::{Action, Average, Length, Mode, ParameterServer, RunSpec, Strategy, Train};

use crate::failure::{Failure, OrUsage};

/// A longer name than this is cut.
const NAME_LENGTH: usize = 40;

/// One way to train.
pub(super) struct Candidate {
    /// The strategy as the user wrote it.
    pub(super) label: String,
    pub(super) train: Train,
    spec: RunSpec,
}

/// The ways to train a file that a list names.
pub(super) fn candidates(spec: &RunSpec, list: &str) -> Result<Vec<Candidate>, Failure> {
    let train = trained(spec).or_usage()?;
    let workers = if train.workers > 1 { train.workers } else { 2 };
    let candidate = |label: &str| {
        let workers = if label == "single" { 1 } else { workers };
        let strategy = with_options(Strategy::parse(label, workers).or_usage()?, train.strategy);
        let train = Train { workers, strategy, ..train.clone() };
        Ok(Candidate { label: label.into(), train, spec: spec.clone() })
    };
    let labels = split(list);
    if labels.is_empty() {
        return Err(anyhow!("--strategies names none; leave it out to compare all")).or_usage();
    }
    labels.into_iter().map(candidate).collect()
}

impl Candidate {
    /// The file with this strategy, checked as if it had been written so.
    pub(super) fn spec(&self) -> Result<RunSpec, Failure> {
        let mut spec = self.spec.clone();
        spec.name = name(&self.label);
        for step in &mut spec.steps {
            match &mut step.action {
                Action::Train(train) => *train = self.train.clone(),
                Action::Prepare(prepare) => prepare.shards = self.train.workers,
                Action::Evaluate(_) | Action::Serve(_) => {}
            }
        }
        spec::parse(&spec.to_yaml(), &self.label, &[]).or_usage()
    }

    /// `2 workers`.
    pub(super) fn workers(&self) -> String {
        match self.train.workers {
            1 => "1 worker".into(),
            workers => format!("{workers} workers"),
        }
    }
}

/// The only training of a file, if it has an end.
fn trained(spec: &RunSpec) -> anyhow::Result<&Train> {
    let trains = spec.steps.iter().filter_map(|step| match &step.action {
        Action::Train(train) => Some(train),
        _ => None,
    });
    match trains.collect::<Vec<_>>()[..] {
        [train] if train.length == Length::Endless => Err(anyhow!(
            "{} trains until it is stopped; give it an end, as with `--set train.steps=1000`",
            spec.name
        )),
        [train] => Ok(train),
        ref trains => Err(anyhow!(
            "{} has {} steps that train, and only a file with one can be compared; \
             make a file of each",
            spec.name,
            trains.len()
        )),
    }
}

/// A strategy that is named alone has the options that the file gives it.
fn with_options(strategy: Strategy, file: Strategy) -> Strategy {
    match (strategy, file) {
        (Strategy::Average(average), Strategy::Average(_)) if average == Average::default() => file,
        (Strategy::ParameterServer(servers), Strategy::ParameterServer(own)) => {
            let mode = servers.mode;
            let named_alone = servers == ParameterServer { mode, ..ParameterServer::default() };
            let replicas = own.replicas_to_aggregate.filter(|_| mode == Mode::Sync);
            match named_alone {
                true => Strategy::ParameterServer(ParameterServer {
                    mode,
                    replicas_to_aggregate: replicas,
                    ..own
                }),
                false => strategy,
            }
        }
        _ => strategy,
    }
}

/// The items between commas. Those within brackets belong to an item.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut items) = (0usize, 0, vec![]);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&list[start..]);
    items.into_iter().map(str::trim).filter(|item| !item.is_empty()).collect()
}

/// `parameter_server:sync` as a run may be called: `parameter-server-sync`. What is cut ends with what
/// tells it from others that begin so.
fn name(label: &str) -> String {
    let words = label.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let mut name = words.join("-").to_ascii_lowercase();
    if name.len() > NAME_LENGTH {
        let hash = Sha256::digest(label);
        let digits = store::hex(&hash[..3]);
        name.truncate(NAME_LENGTH - digits.len() - 1);
        name = format!("{}-{digits}", name.trim_end_matches('-'));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(file: &str, list: &str) -> Vec<(String, usize, Strategy)> {
        let spec = spec::parse(file, "a.yaml", &[]).expect("the file is right");
        let all = candidates(&spec, list).expect("the list is right");
        all.iter()
            .map(|one| {
                let spec = one.spec().expect("it can be trained so");
                let train = trained(&spec).expect("it trains once");
                (spec.name.clone(), train.workers, train.strategy)
            })
            .collect()
    }

    const FILE: &str = "{name: a, data: mnist-sample, model: mnist-mlp}";

    #[test]
    fn one_worker_becomes_two_but_for_single() {
        let found = labels(FILE, "single, all_reduce,{average: {rounds: 2, outer: {}}}");
        let names: Vec<_> = found.iter().map(|(name, workers, _)| (&name[..], *workers)).collect();
        assert_eq!(names, [("single", 1), ("all-reduce", 2), ("average-rounds-2-outer", 2)]);
    }

    #[test]
    fn long_labels_that_begin_alike_have_names_of_their_own() {
        let long = |momentum: &str| {
            format!(
                "{{average: {{sync_every: 1000, outer: {{learning_rate: 0.7, momentum: {momentum}}}}}}}"
            )
        };
        let found = labels(FILE, &format!("{},{}", long("0.8"), long("0.9")));
        let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
        let begin = "average-sync-every-1000-outer-lea";
        assert!(names.iter().all(|name| name.starts_with(begin) && name.len() <= NAME_LENGTH));
        assert_ne!(names[0], names[1]);
        assert_eq!(name(&long("0.8")), names[0], "it is found again");
    }

    #[test]
    fn options_of_the_file_stay() {
        let servers = "{servers: 3, mode: sync, replicas_to_aggregate: 2}";
        let file = format!(
            "{{name: a, data: mnist-sample, model: mnist-mlp, \
             train: {{workers: 4, strategy: {{parameter_server: {servers}}}}}}}"
        );
        let list = "parameter_server:sync,parameter_server:async,{parameter_server: {servers: 2}}";
        let of = |(_, workers, strategy): &(String, usize, Strategy)| match strategy {
            Strategy::ParameterServer(s) => (*workers, s.servers, s.replicas_to_aggregate),
            other => panic!("{other:?}"),
        };
        let found: Vec<_> = labels(&file, list).iter().map(of).collect();
        assert_eq!(found, [(4, 3, Some(2)), (4, 3, None), (4, 2, None)]);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let refused = |file: &str, list: &str| {
            let spec = spec::parse(file, "a.yaml", &[]).expect("the file is right");
            match candidates(&spec, list) {
                Err(Failure::Usage(error)) => error.to_string(),
                _ => panic!("it can be compared"),
            }
        };
        assert!(refused(FILE, " , ").contains("names none"));
        assert!(refused(FILE, "averge").contains("average"));
        let endless = FILE.replace("mnist-mlp", "mnist-mlp, train: {steps: 0}");
        assert!(refused(&endless, "average").contains("train.steps=1000"));
    }
}
