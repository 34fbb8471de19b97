//! What must hold of a run, whatever happened to it.

use std::collections::BTreeMap;

use store::RunDir;
use train::{Epoch, Event, Kind, Metrics, Report, State, read_events};

/// What came out of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Result {
    weights_sha256: String,
    epochs: Vec<Epoch>,
    test: Option<Metrics>,
}

/// What happened in runs, to see that something did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) drivers: usize,
    pub(crate) stops: usize,
    pub(crate) started: usize,
    pub(crate) adopted: usize,
    pub(crate) lost: usize,
    pub(crate) left: usize,
    pub(crate) groups: usize,
    pub(crate) held: usize,
    pub(crate) resumed: usize,
}

type Checked = std::result::Result<(), String>;

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.drivers += other.drivers;
        self.stops += other.stops;
        self.started += other.started;
        self.adopted += other.adopted;
        self.lost += other.lost;
        self.left += other.left;
        self.groups += other.groups;
        self.held += other.held;
        self.resumed += other.resumed;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts { drivers, stops, started, adopted, lost, left, groups, held, resumed } = self;
        write!(
            f,
            "{drivers} drivers, {stops} stops, {started} processes started, {adopted} taken over, \
             {lost} lost, {left} left, {groups} groups, {held} from what somebody held, \
             {resumed} from a checkpoint"
        )
    }
}

impl Counts {
    fn of(events: &[Event]) -> Self {
        let count = |is: fn(&Kind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
        Counts {
            drivers: count(|kind| matches!(kind, Kind::RunStarted { .. })),
            stops: count(|kind| matches!(kind, Kind::RunStopped { .. })),
            started: count(|kind| matches!(kind, Kind::TaskStarted { adopted: false, .. })),
            adopted: count(|kind| matches!(kind, Kind::TaskStarted { adopted: true, .. })),
            lost: count(|kind| matches!(kind, Kind::ProcessLost { .. })),
            left: count(|kind| matches!(kind, Kind::ProcessLeft { .. })),
            groups: count(|kind| matches!(kind, Kind::Formed { .. })),
            held: count(|kind| matches!(kind, Kind::Formed { step: Some(_), .. })),
            resumed: count(|kind| matches!(kind, Kind::Resumed { .. })),
        }
    }
}

impl Result {
    /// As the report tells it.
    pub(crate) fn of(run: &RunDir) -> std::result::Result<Self, String> {
        let text = std::fs::read(run.report()).map_err(|error| format!("no report: {error}"))?;
        let report: Report = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        if report.state != State::Done {
            return Err(format!("the report says {}", report.state.as_str()));
        }
        Ok(Result {
            weights_sha256: report.newest.weights_sha256.ok_or("no model was published")?,
            epochs: report.newest.epochs,
            test: report.newest.metrics.test,
        })
    }
}

/// Checks a run that is done. Where two processes had one number, they have two ids.
pub(crate) fn check(
    run: &RunDir,
    expected: &Result,
    doubled: bool,
) -> std::result::Result<Counts, String> {
    let result = Result::of(run)?;
    if result != *expected {
        return Err(format!("another result: {result:?} instead of {expected:?}"));
    }
    let events = read_events(&run.events()).map_err(|error| error.to_string())?;
    check_order(&events)?;
    if !doubled {
        check_processes(&events)?;
    }
    check_epochs(&events, expected)?;
    check_lineage(&events)?;
    Ok(Counts::of(&events))
}

/// Every event is there, and the last one tells the end.
fn check_order(events: &[Event]) -> Checked {
    if let Some(gap) = (0..).zip(events).find(|(seq, event)| *seq != event.seq) {
        return Err(format!("event {} is missing", gap.0));
    }
    if events.last().map(|event| &event.kind) != Some(&Kind::RunDone {}) {
        return Err("the last event is not the run's end".into());
    }
    Ok(())
}

/// Nobody that survives is restarted: a number is one process's, with one id.
fn check_processes(events: &[Event]) -> Checked {
    let mut pids = BTreeMap::new();
    for event in events {
        if let Kind::TaskStarted { process, pid, .. } = event.kind
            && *pids.entry(process).or_insert(pid) != pid
        {
            return Err(format!("process {process} was started twice"));
        }
    }
    Ok(())
}

/// Every epoch's result was told, and whenever it was, it was the same: every sample is counted once.
fn check_epochs(events: &[Event], expected: &Result) -> Checked {
    for event in events {
        if let Kind::Epoch(epoch) = &event.kind
            && !expected.epochs.contains(epoch)
        {
            return Err(format!("a strange epoch was told: {epoch:?}"));
        }
        if let Kind::Published(published) = &event.kind
            && published.weights_sha256 != expected.weights_sha256
        {
            return Err(format!("a strange model was published: {published:?}"));
        }
    }
    Ok(())
}

/// One lineage: groups are counted up, each goes on from the newest state there was, which no group ever
/// falls behind of, and a checkpoint is read only where nobody holds anything.
fn check_lineage(events: &[Event]) -> Checked {
    // The step that each group goes on from, and the newest that had been saved before.
    let mut formed: BTreeMap<u64, (Option<u64>, u64)> = BTreeMap::new();
    let mut saved = 0;
    for event in events {
        match &event.kind {
            Kind::Formed { generation, step, ranks, .. } => {
                if formed.last_key_value().is_some_and(|(newest, _)| newest >= generation) {
                    return Err(format!(
                        "group {generation} comes after {:?}",
                        formed.last_key_value()
                    ));
                }
                if step.is_some_and(|step| step < saved) {
                    return Err(format!(
                        "group {generation} goes on from {step:?}, but {saved} was saved"
                    ));
                }
                let mut hosted: Vec<usize> = ranks.concat();
                hosted.sort_unstable();
                if !hosted.iter().copied().eq(0..hosted.len()) {
                    return Err(format!("group {generation} hosts {ranks:?}"));
                }
                formed.insert(*generation, (*step, saved));
            }
            // It may be heard late, from a process that was cut off.
            Kind::Resumed { step, generation } => match formed.get(generation) {
                Some((None, saved)) if step >= saved => {}
                group => {
                    return Err(format!(
                        "checkpoint {step} was read in group {generation}: {group:?}"
                    ));
                }
            },
            Kind::Checkpoint { step } => saved = saved.max(*step),
            _ => {}
        }
    }
    Ok(())
}
