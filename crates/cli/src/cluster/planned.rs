//! What a driver in a pod is to do: the plan of a run whose workers have pods of their own.

use std::path::Path;
use std::time::Duration;

use exec::kubernetes::INPUTS_FOLDER;
use plan::{Plan, Role};
use spec::RunSpec;
use train::Clock;

use crate::env::Env;
use crate::failure::Failure;
use crate::{facts, output, run_file};

/// How long the user's files may take to come.
const SENDING: Duration = Duration::from_secs(3600);

/// Waits for the user's files that the run reads: whoever began it is sending them.
pub(crate) async fn await_inputs(spec: &mut RunSpec) -> anyhow::Result<()> {
    for path in run_file::paths(spec) {
        let path = Path::new(path);
        let awaited = path.starts_with(INPUTS_FOLDER) && !path.exists();
        if awaited {
            output::talk(&format!("waiting for {} to be sent", path.display()));
        }
        let since = Clock::system();
        while awaited && !path.exists() {
            anyhow::ensure!(since.elapsed() < SENDING, "nobody has sent {}", path.display());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

/// The plan of a run whose workers have pods of their own.
pub(crate) fn planned(spec: &RunSpec, env: &Env) -> Result<Plan, Failure> {
    let (mut plan, _) = facts::plan(spec, env)?;
    let given = spec.on.kubernetes.clone().unwrap_or_default();
    for task in &mut plan.tasks {
        if let Role::Worker { train, .. } = &task.role {
            task.resources.threads = train.threads.unwrap_or_else(|| cores(&given.workers));
        }
    }
    let beside = plan.tasks.iter().filter(|task| !matches!(task.role, Role::Worker { .. }));
    let beside = Plan { tasks: beside.cloned().collect(), ..plan.clone() };
    facts::check_memory(&beside, env)?;
    Ok(plan)
}

/// How many threads make use of what pods are given.
fn cores(pods: &spec::Pods) -> usize {
    let given = pods.limits.get("cpu").or(pods.requests.get("cpu"));
    let cores = given.and_then(|cpu| match cpu.strip_suffix('m') {
        Some(thousandths) => thousandths.parse::<f64>().ok().map(|it| it / 1000.0),
        None => cpu.parse().ok(),
    });
    cores.map_or(1, |cores: f64| cores.ceil().clamp(1.0, 1024.0) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_core_is_one_thread() {
        let pods = |cpu: &str| spec::Pods {
            limits: [("cpu".to_owned(), cpu.to_owned())].into(),
            ..spec::Pods::default()
        };
        assert_eq!(cores(&spec::Pods::default()), 1);
        assert_eq!(cores(&pods("200m")), 1);
        assert_eq!(cores(&pods("1500m")), 2);
        assert_eq!(cores(&pods("4")), 4);
    }
}
