//! A task under way: its processes, what they said last, and what they add up to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plan::{Role, Task};
use spec::{Mode, Strategy};
use tokio::sync::mpsc::UnboundedSender;
use train::membership::{Crew, Line, Member, servers};
use train::message::{Farewell, Hello, ToProcess};
use train::{Kind, WorkerProgress};

/// How often in a row a task's processes may die without getting anywhere before it has failed. All of
/// them may die at once, for one reason, so it counts for each place.
const MOST_DEATHS: usize = 5;
/// How long processes may take to leave when all is done.
pub(crate) const LEAVING: Duration = Duration::from_secs(10);

/// A task under way.
pub(crate) struct Troop {
    pub(crate) task: Task,
    pub(crate) crew: Crew,
    /// The lines of its processes: the number of each, and the end to speak into.
    pub(crate) lines: BTreeMap<u32, (u64, UnboundedSender<ToProcess>)>,
    /// What processes said at their end.
    pub(crate) farewells: BTreeMap<u32, Farewell>,
    /// Deaths since training last got further.
    pub(crate) deaths: u32,
    /// How far it has got.
    furthest: u64,
    pub(crate) began: Duration,
    /// The newest event of each process that was written down.
    pub(crate) heard: BTreeMap<u32, u64>,
    /// When those that were told to leave are killed.
    pub(crate) killing_at: Option<Duration>,
    /// Who was told to save what all ranks share.
    pub(crate) saver: Option<u32>,
    /// Whether every process that was told to save has done so.
    pub(crate) saved: bool,
    /// Why there is to be another group.
    pub(crate) reason: String,
    /// The process ids of those that have called.
    pub(crate) pids: BTreeMap<u32, u32>,
    /// Those whose end the launcher will tell.
    pub(crate) launched: BTreeSet<u32>,
    /// Those of which it will be late: they are known by the place they were started in.
    pub(crate) placed: BTreeSet<u32>,
    /// Those that have ended, and whose last words may still be on the line.
    pub(crate) ended: BTreeMap<u32, String>,
    /// Whether it was said that nobody is there.
    awaiting_told: bool,
}

impl Troop {
    pub(crate) fn new(task: &Task, processes: usize, now: Duration) -> Self {
        let crew = match &task.role {
            Role::Worker { train, .. } => {
                let (servers, loose) = match train.strategy {
                    Strategy::ParameterServer(s) => (s.servers, s.mode == Mode::Async),
                    _ => (0, false),
                };
                Crew { loose, ..Crew::new(train.workers, processes, servers) }
            }
            _ => Crew::new(0, 1, 0),
        };
        Troop {
            task: task.clone(),
            crew,
            lines: BTreeMap::new(),
            farewells: BTreeMap::new(),
            deaths: 0,
            furthest: 0,
            began: now,
            heard: BTreeMap::new(),
            killing_at: None,
            saver: None,
            saved: true,
            reason: String::new(),
            pids: BTreeMap::new(),
            launched: BTreeSet::new(),
            placed: BTreeSet::new(),
            ended: BTreeMap::new(),
            awaiting_told: false,
        }
    }

    /// Takes note of a process that was started and is to call in time.
    pub(crate) fn add(&mut self, process: u32, due: Duration, serves: bool) {
        self.crew.members.insert(process, Member::new(due, serves));
        self.launched.insert(process);
    }

    /// Takes note that a process has called.
    pub(crate) fn connect(
        &mut self,
        process: u32,
        hello: &Hello,
        (line, out): (u64, UnboundedSender<ToProcess>),
        now: Duration,
    ) {
        self.lines.insert(process, (line, out));
        if hello.place.is_some() {
            self.placed.insert(process);
        }
        if self.pids.insert(process, hello.pid).is_some_and(|pid| pid != hello.pid) {
            // Another one, which counts its events from the beginning.
            self.heard.remove(&process);
        }
        let stranger = || Member::new(now, hello.serves);
        let member = self.crew.members.entry(process).or_insert_with(stranger);
        member.line = Some(Line::new(hello.contact.clone(), now));
    }

    /// Says something to one process.
    pub(crate) fn say(&self, process: u32, words: ToProcess) {
        if let Some((_, out)) = self.lines.get(&process) {
            // A line that is dead is found by its end.
            let _ = out.send(words);
        }
    }

    /// Says something to every process.
    pub(crate) fn say_to_all(&self, words: &ToProcess) {
        self.lines.keys().for_each(|&process| self.say(process, words.clone()));
    }

    /// Takes note of a heartbeat. Training that gets further has outlived its deaths.
    pub(crate) fn beat(&mut self, process: u32, beat: train::message::Beat, now: Duration) {
        self.reaches(beat.step);
        self.crew.beat(process, beat, now);
    }

    /// Takes note of how far training has got, as its events tell.
    pub(crate) fn hears(&mut self, event: &Kind) {
        match event {
            Kind::Progress(progress) => self.reaches(progress.step),
            Kind::Epoch(epoch) => self.reaches(epoch.step),
            Kind::Checkpoint { step } => self.reaches(*step),
            _ => {}
        }
    }

    /// Whether training has got anywhere under this driver.
    pub(crate) fn has_moved(&self) -> bool {
        self.crew.world > 0 && self.furthest > 0
    }

    fn reaches(&mut self, step: u64) {
        if step > self.furthest {
            (self.furthest, self.deaths) = (step, 0);
        }
    }

    /// Takes note that a process died: whether that is enough.
    pub(crate) fn dies(&mut self) -> bool {
        self.deaths += 1;
        let Crew { world, wanted, keepers, .. } = &self.crew;
        self.deaths as usize >= MOST_DEATHS * (*wanted.max(world) + keepers.len()).max(1)
    }

    /// Forgets a process that has ended.
    pub(crate) fn forget(&mut self, process: u32) -> bool {
        self.lines.remove(&process);
        self.crew.remove(process).is_some()
    }

    /// Whether only those train that join, and nobody has: true once, until somebody does.
    pub(crate) fn is_deserted(&mut self) -> bool {
        let Crew { world, wanted, stopping, members, .. } = &self.crew;
        let deserted =
            *world > 0 && *wanted == 0 && !stopping && members.values().all(|m| m.serves);
        let before = std::mem::replace(&mut self.awaiting_told, deserted);
        deserted && !before
    }

    /// Tells a process to save and leave. Servers stay until workers have saved what they hold.
    pub(crate) fn say_save(&self, process: u32) {
        if self.crew.members.get(&process).is_some_and(|member| !member.serves) {
            let servers = servers(&self.crew).unwrap_or_default();
            self.say(process, ToProcess::Save { whole: self.saver == Some(process), servers });
        }
    }

    /// Tells those that leave to save what they hold and go; this one saves what all ranks share.
    pub(crate) fn dismiss(&mut self, source: Option<u32>) {
        self.saver = source;
        let leaving = self.crew.members.values_mut().filter(|m| m.leaving && !m.serves);
        leaving.for_each(|member| member.dismissed = true);
        let dismissed = self.crew.members.iter().filter(|(_, member)| member.dismissed);
        dismissed.for_each(|(&process, _)| self.say_save(process));
    }

    /// Tells servers to leave, once no worker needs them any more.
    pub(crate) fn dismiss_servers(&self) {
        if self.crew.members.values().all(|member| member.serves) {
            self.say_to_all(&ToProcess::Leave);
        }
    }

    /// How every process stands, as its last heartbeat said.
    pub(crate) fn workers(&self) -> Vec<WorkerProgress> {
        let ranks = |process: u32| {
            let hosted =
                |(rank, host): (usize, &Option<u32>)| (*host == Some(process)).then_some(rank);
            self.crew.hosts.iter().enumerate().filter_map(hosted).collect()
        };
        let members = self.crew.members.iter().filter(|(_, member)| member.seated);
        let progress = |(&process, member): (&u32, &Member)| {
            let step = member.line.as_ref()?.beat.step;
            Some(WorkerProgress { process, ranks: ranks(process), step })
        };
        members.filter_map(progress).collect()
    }

    /// The most memory that one of those held which have said farewell, and what all of them sent.
    fn sums(&self) -> (u64, u64) {
        let farewells = || self.farewells.values();
        let held = farewells().map(|farewell| farewell.peak_rss_bytes).max().unwrap_or(0);
        (held, farewells().map(|farewell| farewell.bytes_sent).sum())
    }

    /// The end for now of a task that was asked to stop, once all of its processes are gone.
    pub(crate) fn stopped(&self) -> Kind {
        let (peak_rss_bytes, bytes_sent) = self.sums();
        Kind::TaskStopped { saved: self.saved, peak_rss_bytes, bytes_sent }
    }

    /// The task's end, once all of its processes are gone. Those that died have said nothing of what
    /// they did, so what is told of one process is the mean of those that came to the end.
    pub(crate) fn done(&self, now: Duration) -> Kind {
        let sum = |of: fn(&Farewell) -> f64| self.farewells.values().map(of).sum::<f64>();
        let (trained, waited) = (sum(|f| f.seconds), sum(|f| f.waited_seconds));
        let computed = sum(|f| f.computed_seconds);
        let worker = self.farewells.values().find(|farewell| farewell.samples > 0);
        let (peak_rss_bytes, bytes_sent) = self.sums();
        Kind::TaskDone {
            seconds: (now - self.began).as_secs_f64(),
            peak_rss_bytes,
            bytes_sent,
            waiting_share: if trained > 0.0 { (waited / trained).min(1.0) } else { 0.0 },
            computing_speed: if computed > 0.0 {
                sum(|f| f.samples as f64) / computed
            } else {
                0.0
            },
            link: worker.map_or_else(String::new, |worker| worker.link.clone()),
        }
    }
}
