//! What is trained in the simulation: a tiny network on a handful of samples, in each of the ways in
//! which workers train together; and what comes out of it when nothing goes wrong.

use std::path::Path;
use std::sync::Arc;

use data::{Samples, View, npz};
use plan::{Facts, Plan};
use store::{RunDir, Runs};
use tempfile::TempDir;

use crate::check::{self, Counts, Result};
use crate::faults::{Manner, What, faults};
use crate::play::{Scene, play};

/// Each as a run file says it, with its number of workers. Servers clip too, for then workers ask them
/// for more.
const STRATEGIES: [(&str, usize); 6] = [
    ("single", 1),
    ("all_reduce", 3),
    ("{ average: { sync_every: 3 } }", 3),
    ("all_reduce", 2),
    ("{ average: { outer: {} } }", 2),
    ("{ parameter_server: { servers: 2, mode: sync } }, clip: { norm: 1 }", 2),
];

/// Samples to train on, some of them held out, and to test on.
const TRAIN: usize = 41;
const TEST: usize = 9;

/// What all seeds share.
pub(crate) struct Material {
    folder: TempDir,
    ways: Vec<Way>,
}

/// One way of training.
struct Way {
    strategy: &'static str,
    workers: usize,
    plan: Arc<Plan>,
    /// What comes out of it.
    expected: Option<Result>,
}

impl Material {
    /// Makes the samples, and trains undisturbed in each way.
    pub(crate) fn new() -> Self {
        let folder = memory_folder();
        let samples = folder.path().join("samples.npz");
        write_samples(&samples);
        let way = |&(strategy, workers): &(&'static str, usize)| Way {
            strategy,
            workers,
            plan: Arc::new(plan(&samples, strategy, workers)),
            expected: None,
        };
        let mut material = Material { ways: STRATEGIES.iter().map(way).collect(), folder };
        for number in 0..STRATEGIES.len() {
            let expected = material.play_undisturbed(number);
            if let Err(problem) = &expected {
                println!("an undisturbed run does not end well: {problem}");
            }
            material.ways[number].expected = Some(expected.unwrap());
        }
        material
    }

    /// What comes out when nothing goes wrong: nobody is lost, and one process that hosts all ranks
    /// ends with the same.
    fn play_undisturbed(&self, number: usize) -> std::result::Result<Result, String> {
        let calm = |_| (Manner::calm(), vec![]);
        let (run, _kept) = self.play(number, &format!("calm{number}"), calm, false)?;
        let expected = Result::of(&run)?;
        let alone = |_| {
            let mut manner = Manner::calm();
            manner.processes = Some(1);
            (manner, vec![])
        };
        let (by_one, _kept) = self.play(number, &format!("one{number}"), alone, false)?;
        for run in [run, by_one] {
            let counts = check::check(&run, &expected, false)?;
            if counts.lost > 0 || counts.groups != 1 {
                return Err(format!("({}) {counts}", self.ways[number].strategy));
            }
        }
        Ok(expected)
    }

    /// Plays a seed and checks what came out of it. A seed that is `repeated` must come out the same.
    pub(crate) fn try_seed(
        &self,
        seed: u64,
        repeated: bool,
        aloud: bool,
    ) -> std::result::Result<Counts, String> {
        let number = (seed % STRATEGIES.len() as u64) as usize;
        let Way { strategy, workers, expected, .. } = &self.ways[number];
        let of_seed = |workers: usize| (Manner::of(seed, workers), faults(seed));
        let named = |problem: String| format!("({workers} workers, {strategy}) {problem}");
        let play = |name: &str, aloud| {
            let (run, kept) = self.play(number, name, of_seed, aloud).map_err(named)?;
            let events = std::fs::read(run.events()).map_err(|error| error.to_string())?;
            Ok::<_, String>((run, kept, events))
        };
        let (run, _kept, events) = play(&format!("seed{seed}"), aloud)?;
        let doubled = faults(seed).iter().any(|fault| matches!(fault.what, What::Double { .. }));
        let expected = expected.as_ref().expect("it was played before");
        let counts = check::check(&run, expected, doubled).map_err(named)?;
        if repeated {
            let (_, _again, same) = play(&format!("again{seed}"), false)?;
            if events != same {
                return Err(named("it is not the same when it is played again".into()));
            }
        }
        Ok(counts)
    }

    /// The folder of the run that was played; it is gone with what comes with it.
    fn play(
        &self,
        number: usize,
        name: &str,
        how: impl Fn(usize) -> (Manner, Vec<crate::faults::Fault>),
        aloud: bool,
    ) -> std::result::Result<(RunDir, Removed), String> {
        let Way { plan, workers, .. } = &self.ways[number];
        let run = Runs::new(self.folder.path().join(name)).create("sim").unwrap();
        let removed = Removed(self.folder.path().join(name));
        let (manner, faults) = how(*workers);
        let seed =
            name.bytes().filter(u8::is_ascii_digit).fold(0, |n, d| n * 10 + u64::from(d - b'0'));
        play(Scene { seed, plan: plan.clone(), run: run.clone(), manner, faults, aloud })?;
        Ok((run, removed))
    }
}

/// A folder that is removed when nobody needs it.
struct Removed(std::path::PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// In memory where that can be: nothing here outlives the machine.
fn memory_folder() -> TempDir {
    let named = tempfile::Builder::new().prefix("trainyard-simulation-").tempdir_in("/dev/shm");
    named.or_else(|_| tempfile::tempdir()).unwrap()
}

fn write_samples(path: &Path) {
    let train = Samples::synthetic(&[2, 3], 3, TRAIN, 1);
    let test = Samples::synthetic(&[2, 3], 3, TEST, 2);
    let labels = |samples: &Samples| samples.y.iter().map(|&y| y as u8).collect::<Vec<u8>>();
    let (of_train, of_test) = (labels(&train), labels(&test));
    let arrays: [(&str, &[usize], View<'_>); 4] = [
        ("x_train", &[TRAIN, 2, 3], train.rows(0..TRAIN)),
        ("y_train", &[TRAIN], View::U8(&of_train)),
        ("x_test", &[TEST, 2, 3], test.rows(0..TEST)),
        ("y_test", &[TEST], View::U8(&of_test)),
    ];
    npz::write(std::fs::File::create(path).unwrap(), &arrays).unwrap();
}

fn plan(samples: &Path, strategy: &str, workers: usize) -> Plan {
    let file = format!(
        "name: sim\n\
         data: {{ from: {}, validation: 6 }}\n\
         model: {{ layers: [Flatten, {{ Dense: {{ units: 4, activation: relu }} }}, \
         {{ Dense: {{ units: 3, activation: softmax }} }}] }}\n\
         train: {{ workers: {workers}, strategy: {strategy}, epochs: 5, batch: 3, threads: 1, \
         checkpoint: {{ every: 300ms }} }}\n",
        samples.display()
    );
    let spec = spec::parse(&file, "sim.yaml", &[]).unwrap();
    plan::plan(&spec, &Facts::default()).unwrap()
}
