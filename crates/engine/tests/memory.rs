//! A session allocates exactly what its program says, and a step nothing.
//!
//! A program of its own, without the test harness: the counting allocator sees the whole process, and
//! the harness allocates now and then.
#![expect(unsafe_code, reason = "a global allocator that counts")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use engine::{Clip, Cpu, Input, Isa, Noise, Optimizer, Program, Session, Trained};
use spec::Reduction;
use support::{groups, labels, loss, networks, signals, texts};

struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), SeqCst);
        CALLS.fetch_add(1, SeqCst);
        // SAFETY: by the contract, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the contract, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let branched = (0..8).map(|seed| (networks::branched(seed), 5));
    let known = [(networks::mnist_mlp(), 20), (networks::mnist_cnn(), 12)];
    let sequences = (0..20).map(|seed| (texts::sequences(seed), [5, 26, 49][seed as usize % 3]));
    let signals = (0..10).map(|seed| (signals::signals(seed), 5));
    let grouped = (0..12).map(|seed| (groups::grouped(seed), [5, 19][seed as usize % 2]));
    let more = branched.chain(sequences).chain(signals).chain(grouped);
    for (graph, batch) in known.into_iter().chain(more) {
        let sample: usize = graph.input_shape().iter().product();
        for threads in [1, 2] {
            let cpu = Cpu::new(threads, Isa::detect());
            let adam = spec::Optimizer::Adam(spec::Adam::default());
            let training = Program::training(&graph, loss(Reduction::Mean), batch)
                .expect("a network of classes");
            let planned = training.memory().total();
            let before = BYTES.load(SeqCst);
            let mut session = Session::new(training, cpu.clone());
            assert_eq!(BYTES.load(SeqCst) - before, planned, "a training session");

            let before = BYTES.load(SeqCst);
            let mut optimizer = Optimizer::new(adam, Trained::of(&graph));
            let slots = Optimizer::memory(adam, graph.parameter_count());
            let got = BYTES.load(SeqCst) - before;
            assert!(got >= slots && got < slots + 1000, "an optimizer: {got}, not {slots}");

            let answering = Program::inference(&graph, batch).expect("a network of classes");
            let smaller = answering.memory().total();
            let before = BYTES.load(SeqCst);
            let mut other = Session::new(answering, cpu);
            assert_eq!(BYTES.load(SeqCst) - before, smaller, "a session for answers");
            assert!(smaller < planned);

            // Ids are taken as they are, and every network knows a second word.
            let (byte, scale) = match graph.vocabulary() {
                Some(_) => (1, 1.0),
                None => (7, 1.0 / 255.0),
            };
            let x = vec![byte; 3 * batch * sample];
            let y = labels(0, batch, graph.output_shape()[0]);
            let triplet = spec::Loss::of(spec::LossName::Triplet);
            let triplet = Program::training(&graph, triplet, batch).expect("numbers");
            let mut triplets = Session::new(triplet, session.cpu().clone());
            let calls = CALLS.load(SeqCst);
            for step in 0..3 {
                // The last batch of an epoch is smaller.
                let n = if step == 2 { batch - 3 } else { batch };
                let input = Input::Bytes { x: &x[..n * sample], scale };
                let noise = Noise { step, ..Noise::default() };
                session.gradient(input, &y[..n], noise, 1.0);
                session.update(&mut optimizer, 0.001, Some(Clip::Norm(1.0)));
                session.evaluate(input, &y[..n]);
                other.predict(input, n);
                let input = Input::Bytes { x: &x[..3 * n * sample], scale };
                triplets.gradient(input, &y[..n], noise, 1.0);
            }
            assert_eq!(CALLS.load(SeqCst), calls, "{threads} threads");
        }
    }
}
