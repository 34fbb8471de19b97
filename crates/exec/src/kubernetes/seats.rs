//! Which process is in which pod. Pure: what the cluster does about it is told as wishes, and what is
//! seen of its pods is told in.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use super::names::{self, Part};
use super::objects::Pool;
use super::trouble::PodState;

/// A pod's place: the name of its Job, and its number there. It is also the pod's host name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) job: String,
    pub(crate) index: u32,
}

impl Place {
    pub(crate) fn name(&self) -> String {
        format!("{}-{}", self.job, self.index)
    }

    pub(crate) fn parse(name: &str) -> Option<Place> {
        let (job, index) = name.rsplit_once('-')?;
        Some(Place { job: job.into(), index: index.parse().ok()? })
    }
}

/// What is seen of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(crate) place: Place,
    /// The pod's own name and id, under which it is deleted.
    pub(crate) pod: String,
    pub(crate) uid: String,
    /// Its node, once it has one.
    pub(crate) node: Option<String>,
    /// Our container in it.
    pub(crate) container: String,
    pub(crate) state: PodState,
}

/// What is to be done on the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// A Job is to have so many pods.
    Grow(Pool, u32),
    /// A pod is to go at once.
    Delete { pod: String, uid: String },
    /// A Job is to go, with its pods.
    DeleteJob(String),
}

/// A process and its pod.
#[derive(Debug)]
struct Seat {
    place: Place,
    task: String,
    /// Its pod's name and id, once it is there.
    pod: Option<(String, String)>,
    node: Option<String>,
    /// What it waits for, as it was last told.
    waits: Option<String>,
}

/// A Job that is there, or will be.
#[derive(Debug, Default)]
pub(crate) struct Staff {
    /// The task that its pods work on.
    pub(crate) task: String,
    /// The number of its next pod.
    pub(crate) next: u32,
    /// The numbers of its pods that ended well.
    pub(crate) succeeded: BTreeSet<u32>,
}

/// All processes of a run that are in pods.
#[derive(Default)]
pub(crate) struct Seats {
    run: String,
    given: spec::Kubernetes,
    jobs: BTreeMap<String, Staff>,
    seats: BTreeMap<u32, Seat>,
    pub(crate) ended: Vec<(u32, String)>,
    pub(crate) delayed: Vec<(u32, String)>,
}

impl Seats {
    /// `jobs` are there already.
    pub(crate) fn new(run: &str, given: &spec::Kubernetes, jobs: BTreeMap<String, Staff>) -> Seats {
        Seats { run: run.into(), given: given.clone(), jobs, ..Seats::default() }
    }

    /// A place for a process, and the wish that fills it.
    pub(crate) fn start(&mut self, task: &plan::Task, process: u32, part: Part) -> (Place, Wish) {
        let pool = self.pool(task, part);
        let staff = self.jobs.entry(pool.name.clone()).or_default();
        staff.task = task.id.clone();
        let place = Place { job: pool.name.clone(), index: staff.next };
        staff.next += 1;
        let wish = Wish::Grow(pool, staff.next);
        self.sit(task, process, place.clone());
        (place, wish)
    }

    /// Takes note of a process that was there before.
    pub(crate) fn sit(&mut self, task: &plan::Task, process: u32, place: Place) {
        let seat = Seat { place, task: task.id.clone(), pod: None, node: None, waits: None };
        self.seats.insert(process, seat);
    }

    /// Where a process is to go: to the nodes that have fewest of its kind, where each has its own.
    fn pool(&self, task: &plan::Task, part: Part) -> Pool {
        let name = |place| names::pool(&self.run, &task.id, part, place);
        let sitting = |place: usize| {
            let job = name(Some(place));
            self.seats.values().filter(|seat| seat.place.job == job).count()
        };
        let place = match &part.pods(&self.given).node_selector {
            Some(spec::NodeSelector::Each(each)) => (0..each.len()).min_by_key(|it| sitting(*it)),
            _ => None,
        };
        let needs = match (part, &task.servers) {
            (Part::Server, Some(servers)) => servers.resources,
            _ => task.resources,
        };
        Pool { name: name(place), task: task.id.clone(), part, place, memory: needs.memory }
    }

    /// The process in a place.
    pub(crate) fn at(&self, place: &str) -> Option<u32> {
        let sits = |(_, seat): &(&u32, &Seat)| seat.place.name() == place;
        self.seats.iter().find(sits).map(|(&process, _)| process)
    }

    /// The node of a process.
    pub(crate) fn node(&self, process: u32) -> Option<&str> {
        self.seats.get(&process)?.node.as_deref()
    }

    /// Gives a process up, if it is one of ours. Whoever calls from its place from now on is told to
    /// leave.
    pub(crate) fn kill(&mut self, process: u32) -> Option<Option<Wish>> {
        let seat = self.seats.remove(&process)?;
        self.ended.push((process, "was ended by the driver".into()));
        Some(seat.pod.map(|(pod, uid)| Wish::Delete { pod, uid }))
    }

    /// The Jobs of tasks of which not all pods have ended well. They would be tried again.
    pub(crate) fn unfinished(&self, tasks: &BTreeSet<String>) -> Vec<String> {
        let left = |staff: &Staff| staff.succeeded.len() < staff.next as usize;
        let jobs = self.jobs.iter().filter(|(_, it)| tasks.contains(&it.task) && left(it));
        jobs.map(|(job, _)| job.clone()).collect()
    }

    /// Takes note of what is seen of a pod. The process in it and its task, if one is.
    pub(crate) fn see(&mut self, sight: Sight) -> Option<(u32, String)> {
        if sight.state == PodState::Done {
            let Place { job, index } = &sight.place;
            self.jobs.entry(job.clone()).and_modify(|staff| {
                staff.succeeded.insert(*index);
            });
        }
        let sits = |(_, seat): &(&u32, &mut Seat)| {
            let same = seat.pod.as_ref().is_none_or(|(_, uid)| *uid == sight.uid);
            seat.place == sight.place && same
        };
        let (&process, seat) = self.seats.iter_mut().find(sits)?;
        let task = seat.task.clone();
        (seat.pod, seat.node) = (Some((sight.pod, sight.uid)), sight.node);
        if let Some(how) = sight.state.ending() {
            self.seats.remove(&process);
            self.ended.push((process, how.to_owned()));
        }
        if let PodState::Waiting(Some(why)) = sight.state {
            self.wait(process, why);
        }
        Some((process, task))
    }

    /// Takes note of what the cluster says of a Job, or of a pod, that does not come.
    pub(crate) fn warn(&mut self, object: &str, why: &str) {
        let concerns = |seat: &Seat| match &seat.pod {
            Some((pod, _)) => pod == object,
            None => seat.place.job == object,
        };
        let concerned: Vec<u32> =
            self.seats.iter().filter(|(_, seat)| concerns(seat)).map(|(&p, _)| p).collect();
        concerned.into_iter().for_each(|process| self.wait(process, why.to_owned()));
    }

    fn wait(&mut self, process: u32, why: String) {
        if let Some(seat) = self.seats.get_mut(&process)
            && seat.waits.as_ref() != Some(&why)
        {
            seat.waits = Some(why.clone());
            self.delayed.push((process, why));
        }
    }
}
