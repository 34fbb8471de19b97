//! Where the time of a step goes: each operation, forward and backward, beside the most the processor
//! could do.

use engine::{Cpu, Noise, Piece, Program, Session};
use serde::Serialize;
use train::Clock;

use super::Subject;
use super::fed;
use crate::env::Env;
use crate::failure::Failure;
use crate::output;

/// Steps that are watched. The best time of each operation counts: what disturbs it only adds.
const STEPS: u64 = 5;

/// What was found.
#[derive(Serialize)]
pub(super) struct Profile {
    /// Multiplications and additions a second when nothing else is done, in thousands of millions.
    peak_gflops: f64,
    /// Of all operations.
    seconds: f64,
    operations: Vec<Row>,
}

/// One operation.
#[derive(Serialize)]
struct Row {
    layer: String,
    operation: &'static str,
    forward_seconds: f64,
    backward_seconds: f64,
    /// Forward and backward together; none where nothing is multiplied.
    gflops: Option<f64>,
}

pub(super) fn measure(subject: &Subject, env: &Env) -> Result<Profile, Failure> {
    let (train, cpu) = (&subject.train, Cpu::new(subject.threads, env.isa()));
    let samples = fed::samples(train);
    let (network, weights) = train::starting_point(train, &samples.shape, samples.classes)?;
    let batch = train.batch.min(samples.len());
    let mut session = Session::new(Program::training(&network.graph, network.loss, batch)?, cpu);
    let weights = weights.unwrap_or_else(|| network.graph.initialize(0));
    session.weights_mut().copy_from_slice(&weights);
    // A sample is one picture, or three.
    let pictures = batch * network.loss.pictures();
    let input = train::input(samples.rows(0..pictures), samples.scale());
    let labor = session.program().labor();
    let clock = Clock::system();
    let mut best = vec![[f64::INFINITY; 2]; labor.len()];
    for step in 0..STEPS {
        let mut last = clock.elapsed();
        let noise = Noise { step, ..Noise::default() };
        session.gradient_watched(input, &samples.y[..batch], (noise, 1.0), |piece| {
            let now = clock.elapsed();
            let seconds = (now - last).as_secs_f64();
            last = now;
            let (number, way) = match piece {
                Piece::Forward(number) => (number, 0),
                Piece::Backward(number) => (number, 1),
                Piece::Input | Piece::Head => return,
            };
            best[number][way] = best[number][way].min(seconds);
        });
    }
    let row = |(labor, &[forward, backward]): (&engine::Labor, &[f64; 2])| {
        let work = 2.0 * ((labor.forward + labor.backward) * pictures) as f64;
        Row {
            layer: network.graph.nodes()[labor.layer].name.clone(),
            operation: labor.name,
            forward_seconds: forward,
            backward_seconds: backward,
            gflops: (work > 0.0).then(|| work / (forward + backward) / 1e9),
        }
    };
    Ok(Profile {
        peak_gflops: peak(session.cpu(), &clock),
        seconds: best.iter().flatten().sum(),
        operations: labor.iter().zip(&best).map(row).collect(),
    })
}

/// The best of several tries.
fn peak(cpu: &Cpu, clock: &Clock) -> f64 {
    let tries = (0..10).map(|_| {
        let began = clock.elapsed();
        let done = cpu.exercise();
        2.0 * done as f64 / (clock.elapsed() - began).as_secs_f64() / 1e9
    });
    tries.fold(0.0, f64::max)
}

impl Profile {
    /// A table, the order that of the network.
    pub(super) fn text(&self) -> String {
        let header =
            ["layer", "operation", "forward", "backward", "share", "GFLOP/s", "of the peak"];
        let mut rows = vec![header.map(String::from).to_vec()];
        rows.extend(self.operations.iter().map(|row| {
            let both = row.forward_seconds + row.backward_seconds;
            let of = |gflops: f64| format!("{:.0} %", 100.0 * gflops / self.peak_gflops);
            vec![
                row.layer.clone(),
                row.operation.into(),
                format!("{:.2} ms", 1e3 * row.forward_seconds),
                format!("{:.2} ms", 1e3 * row.backward_seconds),
                format!("{:.1} %", 100.0 * both / self.seconds),
                row.gflops.map_or(String::new(), |gflops| format!("{gflops:.1}")),
                row.gflops.map_or(String::new(), of),
            ]
        }));
        format!(
            "{}all operations {:.2} ms; the peak of this processor is {:.0} GFLOP/s",
            output::table(&rows),
            1e3 * self.seconds,
            self.peak_gflops
        )
    }
}
