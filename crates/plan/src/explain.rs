//! A plan in words: what `trainyard plan` prints.

use std::fmt::Write as _;

use spec::{Assign, Evaluate, Freeze, Length, Model, Optimizer, Prepare, Split, Train};

use crate::{DataFacts, Facts, Plan, Resources, Role, Servers, Serving, Task, together};

/// What will run, in order, as a person reads it: a line and a sentence for each task.
pub fn explain(plan: &Plan, facts: &Facts) -> String {
    let count = match plan.tasks.len() {
        1 => "1 task".into(),
        count => format!("{count} tasks, in this order"),
    };
    let mut text = format!("{}: {count} (seed {})\n", plan.run, plan.seed);
    let columns: Vec<[String; 5]> = plan.tasks.iter().map(columns).collect();
    let widths: Vec<usize> = (0..5)
        .map(|i| columns.iter().map(|row| row[i].chars().count()).max().unwrap_or(0))
        .collect();
    for (number, (task, row)) in plan.tasks.iter().zip(&columns).enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("   ");
        let sentence = sentence(plan, task, facts);
        // Writing to a text cannot fail.
        let _ = write!(text, "\n{:>2}  {}\n    {sentence}\n", number + 1, line.trim_end());
    }
    if let Some(serving) = &plan.serving {
        let _ = write!(text, "\n{}", served(serving));
    }
    text
}

/// What follows when the run is done.
fn served(serving: &Serving) -> String {
    let Serving { id, serve, model, .. } = serving;
    let (host, port) = (&serve.host, serve.port.unwrap_or(spec::Serve::PORT));
    let otherwise = if serve.port.is_none() { ", or at another port if that is taken" } else { "" };
    let others = if serve.is_private() { "" } else { " to whoever knows the token" };
    format!(
        "Then  {id}\n    Serves the model of {model}{others} at http://{host}:{port}/{otherwise}, \
         when the run is done and until it is stopped.\n"
    )
}

/// Id, role, needs, memory, threads; of those that train, and then of their servers.
fn columns(task: &Task) -> [String; 5] {
    let needs = match task.needs.as_slice() {
        [] => "needs nothing".into(),
        needs => format!("needs {}", needs.join(", ")),
    };
    let (mut memory, mut threads) = given(task.processes, task.resources);
    if let Some(Servers { processes, resources }) = task.servers {
        let (more_memory, more_threads) = given(processes, resources);
        memory = format!("{memory} + {more_memory}");
        threads = format!("{threads} + {more_threads}");
    }
    [task.id.clone(), task.role.name().into(), needs, memory, threads]
}

/// The memory and the threads of so many processes: `3 × 1 thread`.
fn given(processes: usize, each: Resources) -> (String, String) {
    let times = match processes {
        1 => String::new(),
        count => format!("{} × ", grouped(count as u64)),
    };
    let memory = match each.memory {
        0 => "memory not known".into(),
        bytes => format!("{times}{}", memory(bytes)),
    };
    (memory, format!("{times}{}", counted(each.threads as u64, "thread")))
}

fn sentence(plan: &Plan, task: &Task, facts: &Facts) -> String {
    match &task.role {
        Role::Prepare(prepare) => {
            let from = &prepare.data.from;
            let (shards, assign) = (prepare.shards, prepare.data.assign);
            let shares = match (shards, assign) {
                (1, _) => String::new(),
                (shards, Assign::Split) => format!(", in {shards} shards"),
                (shards, Assign::Copy) => format!(", all of it for each of {shards} workers"),
            };
            match facts.data.get(&task.id) {
                Some(data) => format!("Makes {from} ready: {}{shares}.", contents(data)),
                None => format!("Makes {from} ready{shares}."),
            }
        }
        Role::Worker { train, data } => {
            let weights = facts.weights.get(&task.id).copied();
            let assign = prepared(plan, data).map(|it| it.data.assign).unwrap_or_default();
            let steps = facts.data.get(data);
            // How many triplets are drawn is known when samples are dealt out.
            let steps = steps.filter(|_| !train.embeds());
            let steps = steps.map(|data| together::steps_per_epoch(train, assign, data.train));
            training(train, weights, steps)
        }
        Role::Evaluate { evaluate, model, data } => {
            let samples = samples(evaluate, facts.data.get(data));
            format!("Measures the model of {model} on the {samples} of {data}.")
        }
    }
}

/// "55,000 samples to train on, 5,000 for validation and 10,000 to test, each 28×28×1, of 10
/// classes".
fn contents(data: &DataFacts) -> String {
    let mut parts = vec![format!("{} to train on", counted(data.train, "sample"))];
    if data.validation > 0 {
        parts.push(format!("{} for validation", grouped(data.validation)));
    }
    if data.test > 0 {
        parts.push(format!("{} to test", grouped(data.test)));
    }
    let last = parts.pop().unwrap_or_default();
    let parts = match parts.join(", ") {
        before if before.is_empty() => last,
        before => format!("{before} and {last}"),
    };
    let shape: Vec<String> = data.shape.iter().map(usize::to_string).collect();
    format!("{parts}, each {}, of {} classes", shape.join("×"), data.classes)
}

fn prepared<'p>(plan: &'p Plan, id: &str) -> Option<&'p Prepare> {
    plan.tasks.iter().find_map(|task| match &task.role {
        Role::Prepare(prepare) if task.id == id => Some(prepare),
        _ => None,
    })
}

fn named(model: &Model) -> String {
    match model {
        Model::Builtin(builtin) => builtin.name().into(),
        Model::Layers(layers) => format!("a network of {}", counted(layers.len() as u64, "layer")),
        Model::File(file) => format!("the model in {file}"),
        Model::Fresh(file) => format!("the layers of {file} from fresh weights"),
        Model::Frozen(model, Freeze::First(count)) => {
            format!(
                "{}, of which the first {} are frozen,",
                named(model),
                counted(*count as u64, "layer")
            )
        }
        Model::Frozen(model, Freeze::Named(names)) => {
            format!(
                "{}, of which {} are frozen,",
                named(model),
                counted(names.len() as u64, "layer")
            )
        }
    }
}

/// `steps` are those of an epoch, where they are known.
fn training(train: &Train, weights: Option<u64>, steps: Option<u64>) -> String {
    let network = named(&train.model);
    let weights =
        weights.map_or_else(String::new, |count| format!(" ({} weights)", grouped(count)));
    let length = match train.length {
        Length::Steps(steps) => format!("for {}", counted(steps, "step")),
        Length::Endless => "until it is stopped".into(),
        Length::Epochs(epochs) => {
            let each = steps.map(|steps| format!(" of {}", counted(steps, "step")));
            format!("for {}{}", counted(epochs.into(), "epoch"), each.unwrap_or_default())
        }
    };
    let optimizer = match train.optimizer {
        None => "the network's own optimizer",
        Some(Optimizer::Sgd(_)) => "sgd",
        Some(Optimizer::Adam(_)) => "adam",
        Some(Optimizer::Adamw(_)) => "adamw",
        Some(Optimizer::Rmsprop(_)) => "rmsprop",
    };
    let rate = train.learning_rate.map(|rate| rate.of(train.workers));
    let rate = rate.or(train.optimizer.map(|o| o.learning_rate()));
    let rate = rate.map_or_else(String::new, |rate| format!(" at {rate}"));
    let stop = train.early_stop.map_or_else(String::new, |stop| {
        let patience = counted(stop.patience.into(), "epoch");
        format!("; stops early after {patience} without improvement")
    });
    let together = together::explain(train);
    let batch = counted(train.batch as u64, "sample");
    let each = if train.workers > 1 { " each" } else { "" };
    format!(
        "Trains {network}{weights}{together} {length}, {batch} a step{each}, with \
         {optimizer}{rate}{stop}."
    )
}

fn samples(evaluate: &Evaluate, data: Option<&DataFacts>) -> String {
    let (name, count) = match evaluate.split {
        Split::Test => ("test sample", data.map(|data| data.test)),
        Split::Validation => ("validation sample", data.map(|data| data.validation)),
        Split::Train => ("training sample", data.map(|data| data.train)),
    };
    match count {
        Some(count) => counted(count, name),
        None => format!("{name}s"),
    }
}

/// To read and to reckon with: `86.4 MiB (90,597,376 bytes)`.
fn memory(bytes: u64) -> String {
    let exact = counted(bytes, "byte");
    let (unit, scale) = match bytes {
        0..1024 => return exact,
        1024..0x10_0000 => ("KiB", 1u64 << 10),
        0x10_0000..0x4000_0000 => ("MiB", 1 << 20),
        _ => ("GiB", 1 << 30),
    };
    format!("{:.1} {unit} ({exact})", bytes as f64 / scale as f64)
}

pub(crate) fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(count))
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}
