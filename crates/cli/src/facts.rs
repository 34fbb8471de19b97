//! What must be looked up before planning: how much data there is, and how much memory each task
//! will need.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow};
use model::Network;
use plan::{DataFacts, Facts, Plan, Resources, Role, Task};
use spec::{RunSpec, Strategy, Train};
use train::bytes;

use crate::env::Env;
use crate::failure::{Failure, OrUsage};

/// The plan of a run, and the facts it was made from.
pub(crate) fn plan(spec: &RunSpec, env: &Env) -> Result<(Plan, Facts), Failure> {
    let facts = gather(spec, env)?;
    Ok((plan::plan(spec, &facts).or_usage()?, facts))
}

/// Looks up everything that planning a run needs to know.
fn gather(spec: &RunSpec, env: &Env) -> Result<Facts, Failure> {
    let mut facts = Facts { threads: env.threads, ..Facts::default() };
    // A plan made before anything is known still tells what belongs to what.
    let plan = plan::plan(spec, &facts).or_usage()?;
    let mut datasets = BTreeMap::new();
    for task in &plan.tasks {
        let memory = match &task.role {
            Role::Prepare(prepare) => {
                let found = data::facts(&prepare.data)
                    .with_context(|| about(&task.id, "data"))
                    .or_usage()?;
                facts.data.insert(task.id.clone(), data_facts(&found));
                let memory = train::prepare_bytes(&found);
                datasets.insert(task.id.clone(), found);
                memory
            }
            Role::Worker { train, data } => {
                let network = network(&task.id, train, &datasets[data])?;
                let weights = network.graph.parameter_count() as u64;
                facts.weights.insert(task.id.clone(), weights);
                if let Strategy::ParameterServer(servers) = &train.strategy {
                    let memory = train::server_bytes(train, servers, &network);
                    facts.server_memory.insert(task.id.clone(), memory);
                }
                train::worker_bytes(train, &network, &datasets[data]).or_usage()?
            }
            Role::Evaluate { evaluate, model, data } => {
                let network = network(model, trained_by(&plan, model), &datasets[data])?;
                train::evaluate_bytes(evaluate, &network, &datasets[data]).or_usage()?
            }
        };
        facts.memory.insert(task.id.clone(), memory);
    }
    Ok(facts)
}

/// Refuses a plan with a task that this machine has no room for, and says what would fit.
pub(crate) fn check_memory(plan: &Plan, env: &Env) -> Result<(), Failure> {
    let Some(task) = plan.tasks.iter().find(|task| task.memory() > env.memory) else {
        return Ok(());
    };
    let remedy = match &task.role {
        Role::Worker { train, data } => fitting_batch(plan, (train, data), task, env),
        _ => None,
    };
    Err(anyhow!(
        "task `{}` needs {}{} of memory, and {} can be had here; {}",
        task.id,
        times(task.processes, task.resources.memory),
        task.servers.map_or_else(String::new, |servers| {
            format!(" and, for servers, {}", times(servers.processes, servers.resources.memory))
        }),
        bytes(env.memory),
        remedy.unwrap_or_else(|| "take a machine with more, or less data, or fewer workers".into())
    ))
    .or_usage()
}

/// `3 × 8.4 MiB`.
fn times(count: usize, memory: u64) -> String {
    match count {
        1 => bytes(memory),
        count => format!("{count} × {}", bytes(memory)),
    }
}

/// The largest halving of the batch that fits, as advice.
fn fitting_batch(
    plan: &Plan,
    (train, data): (&Train, &str),
    task: &Task,
    env: &Env,
) -> Option<String> {
    let prepare = plan.tasks.iter().find(|task| task.id == data)?;
    let Role::Prepare(prepare) = &prepare.role else {
        return None;
    };
    let found = data::facts(&prepare.data).ok()?;
    let network = network(data, train, &found).ok()?;
    let mut smaller = train.clone();
    while smaller.batch > 1 {
        smaller.batch /= 2;
        let each = train::worker_bytes(&smaller, &network, &found).ok()?;
        let resources = Resources { memory: each, ..task.resources };
        let memory = Task { resources, ..task.clone() }.memory();
        if memory <= env.memory {
            return Some(format!("`batch: {}` would fit in {}", smaller.batch, bytes(memory)));
        }
    }
    None
}

fn data_facts(found: &data::Facts) -> DataFacts {
    DataFacts {
        train: found.train as u64,
        validation: found.validation as u64,
        test: found.test as u64,
        shape: found.shape.clone(),
        classes: found.classes,
    }
}

fn network(task: &str, train: &Train, data: &data::Facts) -> Result<Network, Failure> {
    let network = train::starting_point(train, &data.shape, data.classes);
    let network = network.with_context(|| about(task, "model")).or_usage()?.0;
    let fits = train::check_vocabulary(&network.graph, data.vocabulary);
    fits.with_context(|| about(task, "model")).or_usage()?;
    Ok(network)
}

/// Which field of the run file is at fault.
fn about(task: &str, field: &str) -> String {
    format!("step `{task}`, field `{field}`")
}

/// How the model of a task is trained. The plan has checked that the task is a worker's.
fn trained_by<'p>(plan: &'p Plan, id: &str) -> &'p Train {
    let train = plan.tasks.iter().find_map(|task| match &task.role {
        Role::Worker { train, .. } if task.id == id => Some(train),
        _ => None,
    });
    train.expect("the plan names a worker here")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const FILE: &str = "name: a\ndata: mnist-sample\nmodel: mnist-mlp\n";

    fn env(memory: u64) -> Env {
        let cache = PathBuf::from("/nonexistent");
        let surroundings = train::Surroundings { isa: None, cache, offline: true };
        Env {
            runs: PathBuf::new(),
            surroundings,
            log_dir: None,
            post: None,
            color: false,
            threads: 2,
            memory,
        }
    }

    fn planned(sets: &[&str]) -> Plan {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let spec = spec::parse(FILE, "a.yaml", &sets).expect("the file is right");
        plan(&spec, &env(u64::MAX)).expect("it can be planned").0
    }

    fn worker(sets: &[&str]) -> u64 {
        planned(sets).tasks[1].resources.memory
    }

    #[test]
    fn a_worker_holds_its_shard_or_everything() {
        let split = worker(&["train.workers=10"]);
        let copy = worker(&["train.workers=10", "data.assign=copy"]);
        // Nine thousand samples of 784 bytes and a label more, and their order.
        assert_eq!(copy - split, 9000 * (784 + 4 + 4));
        assert!(split < worker(&[]));
    }

    #[test]
    fn all_processes_of_a_task_need_memory_at_once() {
        let plan = planned(&["train.workers=3", "train.batch=2048"]);
        let each = plan.tasks[1].resources.memory;
        let refused = |memory| match check_memory(&plan, &env(memory)) {
            Err(Failure::Usage(error)) => error.to_string(),
            _ => panic!("it fits"),
        };
        let error = refused(3 * each - 1);
        assert!(error.contains("needs 3 × ") && error.contains("`batch: 1024` would"), "{error}");
        assert!(check_memory(&plan, &env(3 * each)).is_ok());
    }

    #[test]
    fn servers_need_memory_too() {
        let strategy = |of: &str| format!("train.strategy={{parameter_server: {{{of}}}}}");
        let plan = |of: &str| planned(&["train.workers=3", &strategy(of)]);
        let servers =
            |of: &str| plan(of).tasks[1].servers.expect("it has servers").resources.memory;
        // Weights and two slots as they are, as numbers and bytes on their way to each of three workers,
        // and from one of them.
        let (process, weights) = (14 << 20, 79_510 * 4);
        assert_eq!((servers("mode: async") - process) / weights, 3 + 2 * (3 * 3 + 3));
        // Held twice more, and a gradient of each; only weights go to all.
        assert_eq!((servers("mode: sync") - process) / weights, 3 + 2 * 3 + 3 + 2 * (3 + 3));
        assert!(servers("mode: sync, servers: 2") < servers("mode: sync"));

        let plan = plan("servers: 2");
        let (each, all) = (plan.tasks[1].resources.memory, plan.tasks[1].memory());
        assert_eq!(all, 3 * each + 2 * servers("servers: 2"));
        assert!(check_memory(&plan, &env(all)).is_ok());
        let Err(Failure::Usage(error)) = check_memory(&plan, &env(all - 1)) else {
            panic!("it fits");
        };
        assert!(error.to_string().contains(" and, for servers, 2 × "), "{error}");
    }

    #[test]
    fn a_worker_that_watches_its_accuracy_holds_the_test_samples() {
        let of = |every: u64| {
            let servers =
                format!("train.strategy={{parameter_server: {{accuracy_every: {every}}}}}");
            worker(&["train.workers=2", &servers])
        };
        assert_eq!(of(10) - of(0), 2000 * (784 + 4));
    }
}
