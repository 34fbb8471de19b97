//! Which tasks may start now: those whose needs are done and whose resources fit beside what runs.
//! Pure.

use plan::{Plan, Task};
use train::State;

/// What this machine can give to all tasks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory.
    pub memory: u64,
    /// Threads that compute.
    pub threads: usize,
}

/// The tasks to start now, in the plan's order. `state` tells each task's state. A task that fits
/// nowhere starts when it would have the machine to itself: whether it can run at all was checked
/// before the run began.
pub(crate) fn startable(plan: &Plan, state: impl Fn(&str) -> State, limits: Limits) -> Vec<&Task> {
    let mut running: Vec<&Task> =
        plan.tasks.iter().filter(|task| state(&task.id) == State::Running).collect();
    let mut start = vec![];
    for task in &plan.tasks {
        let ready = state(&task.id) == State::Waiting
            && task.needs.iter().all(|need| state(need) == State::Done);
        if ready && (running.is_empty() || fits(task, &running, limits)) {
            running.push(task);
            start.push(task);
        }
    }
    start
}

fn fits(task: &Task, running: &[&Task], limits: Limits) -> bool {
    let all = || running.iter().copied().chain([task]);
    all().map(Task::memory).fold(0, u64::saturating_add) <= limits.memory
        && all().map(Task::threads).sum::<usize>() <= limits.threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Resources, Servers};

    const LIMITS: Limits = Limits { memory: 100, threads: 2 };

    fn plan(tasks: &[(&str, &[&str], u64)]) -> Plan {
        let tasks = tasks.iter().map(|&(id, needs, memory)| Task {
            id: id.into(),
            needs: needs.iter().map(|need| need.to_string()).collect(),
            seed: 0,
            role: plan::Role::Prepare(spec::Prepare {
                data: spec::Data::named("mnist"),
                shards: 1,
            }),
            processes: 1,
            resources: Resources { memory, threads: 1 },
            servers: None,
        });
        Plan { version: 1, run: "test".into(), seed: 0, tasks: tasks.collect(), serving: None }
    }

    fn started(plan: &Plan, states: &[(&str, State)]) -> Vec<String> {
        let state =
            |id: &str| states.iter().find(|(name, _)| *name == id).map_or(State::Waiting, |s| s.1);
        startable(plan, state, LIMITS).iter().map(|task| task.id.clone()).collect()
    }

    #[test]
    fn needs_come_first() {
        let plan = plan(&[("a", &[], 1), ("b", &["a"], 1)]);
        assert_eq!(started(&plan, &[]), ["a"]);
        assert_eq!(started(&plan, &[("a", State::Running)]), [""; 0]);
        assert_eq!(started(&plan, &[("a", State::Done)]), ["b"]);
        assert_eq!(started(&plan, &[("a", State::Failed)]), [""; 0]);
    }

    #[test]
    fn what_fits_starts_together_and_the_rest_waits() {
        let plan = plan(&[("a", &[], 60), ("b", &[], 60), ("c", &[], 40), ("d", &[], 1)]);
        assert_eq!(started(&plan, &[]), ["a", "c"]); // d would be a third thread.
    }

    #[test]
    fn servers_take_room_too() {
        let mut plan = plan(&[("a", &[], 1), ("b", &[], 1)]);
        let with = |memory, threads| {
            Some(Servers { processes: 2, resources: Resources { memory, threads } })
        };
        plan.tasks[0].servers = with(49, 0);
        assert_eq!(started(&plan, &[]), ["a", "b"]);
        plan.tasks[0].servers = with(50, 0);
        assert_eq!(started(&plan, &[]), ["a"]);
        plan.tasks[0].servers = with(0, 1);
        assert_eq!(started(&plan, &[]), ["a"]);
    }

    #[test]
    fn too_large_a_task_runs_alone() {
        let plan = plan(&[("a", &[], 500), ("b", &[], 1)]);
        assert_eq!(started(&plan, &[]), ["a"]);
        assert_eq!(started(&plan, &[("b", State::Running)]), [""; 0]);
    }
}
