//! The training loop on a small network with a clock of its own: checkpoints when due, leaving when
//! asked, and going on to the same bits.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use data::Samples;
use engine::{Cpu, Isa};
use spec::{Length, Train};
use store::Store;
use train::{
    Checkpoints, Clock, Context, Ending, Kind, Material, Origin, Pulse, Saver, Saving, Settings,
    Snapshot, Trainer, fit_alone,
};

const STEPS: u64 = 40;

fn trainer(train: impl FnOnce(&mut Train)) -> Trainer {
    let model = spec::Model::parse("mnist-mlp").unwrap();
    let mut settings = Train { batch: 8, length: Length::Steps(STEPS), ..Train::new(model) };
    train(&mut settings);
    let samples = samples();
    let network = model::network(&settings.model, &samples.shape, samples.classes).unwrap();
    let settings = Settings::of(&settings, &network, 3);
    let validation = Some(Arc::new(Samples::synthetic(&[28, 28, 1], 10, 20, 2)));
    let one = Material::of_one(network, &samples, Origin::default());
    let material = Material { validation, ..one };
    Trainer::new(material, settings, Cpu::new(1, Isa::detect())).unwrap()
}

fn samples() -> Samples {
    Samples::synthetic(&[28, 28, 1], 10, 100, 1)
}

/// Runs the loop; `told` sees every event and may move the clock or ask to stop.
fn run(
    trainer: &mut Trainer,
    saving: Option<&mut Saving>,
    mut told: impl FnMut(&Kind, &Clock, &AtomicBool),
) -> Result<Ending, train::Error> {
    let (clock, stop) = (Clock::manual(), AtomicBool::new(false));
    let mut voice = |kind: Kind| told(&kind, &clock, &stop);
    let (asked, pulse) = (|| stop.load(Ordering::Relaxed), Pulse::default());
    let log = |_: &str| {};
    let mut context =
        Context { clock: &clock, stop: &asked, pulse: &pulse, log: &log, voice: &mut voice };
    fit_alone(trainer, &Arc::new(samples()), &mut context, saving)
}

fn weights(trainer: &Trainer) -> Vec<f32> {
    trainer.model().weights
}

#[test]
fn a_loop_that_is_asked_to_leave_goes_on_elsewhere_to_the_same_bits() {
    let mut undisturbed = trainer(|_| {});
    let mut epochs = vec![];
    run(&mut undisturbed, None, |kind, _, _| {
        if let Kind::Epoch(epoch) = kind {
            epochs.push(epoch.clone());
        }
    })
    .unwrap();
    assert_eq!(epochs.len(), 4); // Three whole epochs of 13 steps, and one step more.

    let folder = tempfile::tempdir().unwrap();
    let checkpoints = || Checkpoints::new(Store::local(folder.path()).unwrap(), "w".into(), 3);
    let mut first = trainer(|_| {});
    let mut saving =
        Saving { saver: Saver::new(checkpoints()), every: Duration::from_secs(10), ranks: None };
    let mut steps = vec![];
    let ending = run(&mut first, Some(&mut saving), |kind, _, stop| {
        match kind {
            // Progress is told after every step here, the first of which is step 1.
            Kind::Progress(progress) if progress.step == 20 => stop.store(true, Ordering::Relaxed),
            Kind::Checkpoint { step } => steps.push(*step),
            _ => {}
        }
    });
    assert_eq!(ending.unwrap(), Ending::Left);
    saving.saver.save(first.snapshot());
    steps.extend(saving.saver.flush().unwrap());
    assert_eq!(steps, [13, 20]);

    let found = checkpoints().newest().unwrap();
    assert!(found.damaged.is_empty());
    let mut second = trainer(|_| {});
    second.restore(found.newest.unwrap()).unwrap();
    let mut rest = vec![];
    let ending = run(&mut second, None, |kind, _, _| {
        if let Kind::Epoch(epoch) = kind {
            rest.push(epoch.clone());
        }
    });
    assert_eq!(ending.unwrap(), Ending::Finished);
    assert_eq!(rest, epochs[1..]);
    assert!(weights(&second) == weights(&undisturbed), "other bits after a resume");
}

#[test]
fn checkpoints_come_when_they_are_due() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoints = Checkpoints::new(Store::local(folder.path()).unwrap(), "w".into(), 100);
    let mut trainer = trainer(|_| {});
    let mut saving =
        Saving { saver: Saver::new(checkpoints), every: Duration::from_secs(10), ranks: None };
    let mut steps = vec![];
    run(&mut trainer, Some(&mut saving), |kind, clock, _| match kind {
        Kind::Progress(_) => clock.advance(Duration::from_secs(3)),
        Kind::Checkpoint { step } => steps.push(*step),
        _ => {}
    })
    .unwrap();
    steps.extend(saving.saver.flush().unwrap());
    // Three seconds pass after each step: a checkpoint is due four steps after the first, and at the
    // end of each epoch of 13 steps, just after progress was told; then one more step passes.
    assert_eq!(steps, [5, 9, 13, 18, 22, 26, 31, 35, 39, 40]);
}

#[test]
fn a_checkpoint_of_another_network_is_refused() {
    let other = trainer(|train| train.model = spec::Model::parse("mnist-cnn").unwrap());
    let snapshot: Snapshot = other.snapshot();
    let error = trainer(|_| {}).restore(snapshot).unwrap_err().to_string();
    assert!(error.contains("another network") && error.contains("--fresh"), "{error}");
}

#[test]
fn weights_that_leave_the_numbers_are_an_error_wherever_it_shows() {
    // The last update of all makes the weights infinite: only validation can see it.
    let mut trainer = trainer(|train| {
        train.length = Length::Steps(1);
        train.optimizer = Some(spec::Optimizer::Sgd(spec::Sgd::default()));
        train.learning_rate = Some(f32::MAX.into());
    });
    let error = run(&mut trainer, None, |_, _, _| {}).unwrap_err().to_string();
    assert!(error.contains("diverged") && error.contains("learning_rate"), "{error}");
}

#[test]
fn data_of_another_shape_is_refused() {
    let model = spec::Model::parse("mnist-mlp").unwrap();
    let settings = Train::new(model);
    let samples = Samples::synthetic(&[28, 28, 1], 10, 100, 1);
    let network = model::network(&settings.model, &samples.shape, samples.classes).unwrap();
    let settings = Settings::of(&settings, &network, 3);
    let samples = Samples::synthetic(&[14, 14, 1], 10, 100, 1);
    let material = Material::of_one(network, &samples, Origin::default());
    let refused = Trainer::new(material, settings, Cpu::new(1, Isa::detect()));
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("[28, 28, 1]") && error.contains("[14, 14, 1]"), "{error}");
}

/// A trainer for two classes told apart by one number.
fn yes_or_no(loss: &str) -> Result<Trainer, train::Error> {
    let layers = r#"[{"Flatten": {}}, {"Dense": {"units": 1, "activation": "sigmoid"}}]"#;
    let model = spec::Model::Layers(serde_json::from_str(layers).unwrap());
    let mut train = Train { batch: 8, length: Length::Steps(STEPS), ..Train::new(model) };
    let name = serde_json::from_str(&format!("{loss:?}")).unwrap();
    train.loss = Some(spec::Loss::of(name));
    let samples = Samples::synthetic(&[28, 28, 1], 2, 100, 1);
    let network = model::network(&train.model, &samples.shape, 2).unwrap();
    let settings = Settings::of(&train, &network, 3);
    let material = Material::of_one(network, &samples, Origin::default());
    Trainer::new(material, settings, Cpu::new(1, Isa::detect()))
}

#[test]
fn a_loss_that_cannot_tell_the_classes_apart_is_refused_with_the_one_that_can() {
    assert!(yes_or_no("binary_crossentropy").is_ok());
    assert!(yes_or_no("mean_squared_error").is_ok());
    let Err(error) = yes_or_no("sparse_categorical_crossentropy") else {
        panic!("one output has one class");
    };
    assert!(error.to_string().contains("loss: binary_crossentropy"), "{error}");
}
