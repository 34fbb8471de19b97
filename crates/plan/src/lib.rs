//! A checked run file becomes a plan of tasks.
//!
//! [`plan`] is pure: what it knows beyond the file (exact memory, sizes of datasets) comes in as
//! [`Facts`]. The same spec and the same facts give the same plan, byte for byte.

mod error;
mod explain;
mod facts;
mod order;
mod roles;
mod samples;
mod together;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spec::{Action, RunSpec, Strategy};

pub use error::PlanError;
pub use explain::explain;
pub use facts::{DataFacts, Facts};

/// The version of the plan's format.
pub const VERSION: u32 = 1;

/// What a run will do: tasks, each after everything it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this format.
    pub version: u32,
    /// The run's name.
    pub run: String,
    /// What all randomness comes from.
    pub seed: u64,
    /// In an order in which they can run; as in the file where that leaves a choice.
    pub tasks: Vec<Task>,
    /// What is served when all of them are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serving: Option<Serving>,
}

/// What a run ends with, when it is done: a model that is served. No task, for it has no end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serving {
    /// The step's name, unlike any task's.
    pub id: String,
    /// The tasks that it was written to need.
    pub needs: Vec<String>,
    /// How.
    pub serve: spec::Serve,
    /// The task that trained the model.
    pub model: String,
}

/// The orders of one process, or of several that work together. A process learns what it is from
/// this alone, and its place among the others when it meets them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Unique in the plan.
    pub id: String,
    /// The tasks that must be done first.
    pub needs: Vec<String>,
    /// The run's seed.
    pub seed: u64,
    /// What it does.
    pub role: Role,
    /// How many processes it is done by: one for each logical worker.
    pub processes: usize,
    /// What each of them must be given.
    pub resources: Resources,
    /// The servers beside them, where weights lie on servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<Servers>,
}

/// What a task does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Role {
    /// Makes data ready.
    Prepare(spec::Prepare),
    /// Trains.
    Worker {
        /// How.
        train: spec::Train,
        /// The task that prepared the data.
        data: String,
    },
    /// Measures a model.
    Evaluate {
        /// How.
        evaluate: spec::Evaluate,
        /// The task that trained it.
        model: String,
        /// The task that prepared the data.
        data: String,
    },
}

/// Processes that hold weights for those that train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// How many.
    pub processes: usize,
    /// What each of them must be given.
    pub resources: Resources,
}

/// What a process of a task must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    /// Bytes of memory; 0 where it is not known.
    pub memory: u64,
    /// Threads that compute.
    pub threads: usize,
}

impl Plan {
    /// How many logical workers train; 0 where nothing is trained.
    pub fn workers(&self) -> usize {
        let of = |task: &Task| match &task.role {
            Role::Worker { train, .. } => Some(train.workers),
            Role::Prepare(_) | Role::Evaluate { .. } => None,
        };
        self.tasks.iter().find_map(of).unwrap_or(0)
    }
}

impl Task {
    /// Bytes of memory that its processes need together, servers included; 0 where it is not known.
    pub fn memory(&self) -> u64 {
        let of =
            |(processes, each): (usize, Resources)| each.memory.saturating_mul(processes as u64);
        self.all().map(of).fold(0, u64::saturating_add)
    }

    /// Threads that its processes compute with together, servers included.
    pub fn threads(&self) -> usize {
        let of = |(processes, each): (usize, Resources)| each.threads.saturating_mul(processes);
        self.all().map(of).fold(0, usize::saturating_add)
    }

    /// Processes of each kind, and what one of them must be given.
    fn all(&self) -> impl Iterator<Item = (usize, Resources)> {
        let servers = self.servers.map(|servers| (servers.processes, servers.resources));
        [(self.processes, self.resources)].into_iter().chain(servers)
    }
}

impl Role {
    /// The word for it in plans, events and the terminal.
    pub fn name(&self) -> &'static str {
        match self {
            Role::Prepare(_) => "prepare",
            Role::Worker { .. } => "worker",
            Role::Evaluate { .. } => "evaluate",
        }
    }
}

/// Decides what runs, in what order, and with what.
pub fn plan(spec: &RunSpec, facts: &Facts) -> Result<Plan, PlanError> {
    let order = order::order(&spec.steps)?;
    let mut tasks = Vec::with_capacity(order.len());
    let mut serving = None;
    for index in order {
        let step = &spec.steps[index];
        roles::check_needs(&spec.steps, step)?;
        if let Action::Serve(serve) = &step.action {
            serving = Some(roles::serving(&spec.steps, step, serve)?);
            continue;
        }
        let role = roles::role(&spec.steps, step)?;
        samples::check(&spec.steps, &step.id, &role, facts)?;
        let (processes, threads) = match &role {
            Role::Prepare(_) => (1, 1),
            Role::Worker { train, .. } => {
                let share = (facts.threads / train.workers).max(1);
                (train.workers, train.threads.unwrap_or(share))
            }
            Role::Evaluate { .. } => (1, facts.threads),
        };
        let memory = |of: &BTreeMap<String, u64>| of.get(&step.id).copied().unwrap_or(0);
        let servers = servers(&role).map(|processes| Servers {
            processes,
            // Updates are made one after another.
            resources: Resources { memory: memory(&facts.server_memory), threads: 1 },
        });
        tasks.push(Task {
            id: step.id.clone(),
            needs: step.needs.clone(),
            seed: spec.seed,
            role,
            processes,
            resources: Resources { memory: memory(&facts.memory), threads },
            servers,
        });
    }
    Ok(Plan { version: VERSION, run: spec.name.clone(), seed: spec.seed, tasks, serving })
}

/// How many servers a role has, if weights lie on servers.
fn servers(role: &Role) -> Option<usize> {
    match role {
        Role::Worker { train, .. } => match train.strategy {
            Strategy::ParameterServer(servers) => Some(servers.servers),
            _ => None,
        },
        Role::Prepare(_) | Role::Evaluate { .. } => None,
    }
}
