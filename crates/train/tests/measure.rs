//! Measuring what was published: a model, and models that vote.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use data::Samples;
use engine::{Cpu, Isa, Jury, cross_entropy};
use model::{Card, Ensemble, Model, Preprocess, Published, network, vote};
use train::{Error, input, measure};

const SHAPE: [usize; 3] = [28, 28, 1];
const SCALE: f32 = 1.0 / 255.0;

/// An untrained network: its answers differ with the seed, and many of them are wrong.
fn model(seed: u64) -> Model {
    let network = network(&spec::Model::parse("mnist-mlp").unwrap(), &SHAPE, 10).unwrap();
    let input = Preprocess::numbers(SHAPE.to_vec(), SCALE);
    let card = Card::new("test", &network.name, input);
    Model { weights: network.graph.initialize(seed), card, graph: network.graph }
}

fn ensemble(models: &[Model]) -> Published {
    let folder = tempfile::tempdir().unwrap();
    for (rank, model) in models.iter().enumerate() {
        Ensemble::save_member(folder.path(), rank, model).unwrap();
    }
    Ensemble::seal(folder.path(), models.len()).unwrap();
    Published::open(folder.path()).unwrap()
}

fn samples() -> Samples {
    Samples::synthetic(&SHAPE, 10, 150, 1)
}

fn cpu() -> Cpu {
    Cpu::new(1, Isa::detect())
}

#[test]
fn an_ensemble_is_measured_by_its_votes_and_mean_probabilities() {
    let models = [model(0), model(1), model(2)];
    let samples = samples();
    let found = measure(&ensemble(&models), &samples, 40, cpu()).unwrap();

    let answers = models.map(|model| {
        let alone = Published::from(model);
        let mut jury = Jury::new(&alone, samples.len(), cpu()).unwrap();
        jury.ask(input(samples.rows(0..samples.len()), SCALE), samples.len()).probabilities
    });
    let verdict = vote(&answers, 10);
    let labels = || samples.y.iter().map(|&label| label as usize).enumerate();
    let correct = labels().filter(|&(sample, label)| verdict.classes[sample] == label).count();
    let of = |(sample, label)| f64::from(cross_entropy(verdict.probabilities[10 * sample + label]));
    let loss = labels().map(of).sum::<f64>() / samples.len() as f64;
    assert_eq!(found.accuracy, correct as f64 / samples.len() as f64);
    assert!((found.loss - loss).abs() < 1e-9, "{} is not {loss}", found.loss);
    let split =
        (0..samples.len()).filter(|sample| !verdict.votes[10 * sample..][..10].contains(&3));
    assert!(split.count() > 10, "the members are to disagree, or the test shows little");
}

#[test]
fn an_ensemble_of_one_is_as_good_as_that_one() {
    for seed in [0, 7] {
        let alone = measure(&model(seed).into(), &samples(), 64, cpu()).unwrap();
        for count in [1, 3] {
            let same = ensemble(&vec![model(seed); count]);
            let found = measure(&same, &samples(), 64, cpu()).unwrap();
            assert_eq!(found.accuracy, alone.accuracy);
            assert!((found.loss - alone.loss).abs() < 1e-5, "{} {}", found.loss, alone.loss);
        }
    }
}

#[test]
fn threads_and_instruction_sets_change_nothing() {
    let published = ensemble(&[model(0), model(1)]);
    let expected = measure(&published, &samples(), 50, cpu()).unwrap();
    for isa in Isa::available() {
        for threads in [1, 2, 3] {
            let found = measure(&published, &samples(), 50, Cpu::new(threads, isa)).unwrap();
            assert_eq!(found, expected, "{threads} threads, {}", isa.name());
        }
    }
}

#[test]
fn a_jury_asked_again_answers_the_same() {
    let published = ensemble(&[model(0), model(1)]);
    let samples = samples();
    let mut jury = Jury::new(&published, 20, cpu()).unwrap();
    let first = jury.ask(input(samples.rows(0..20), SCALE), 20);
    let second = jury.ask(input(samples.rows(20..27), SCALE), 7);
    assert_eq!(jury.ask(input(samples.rows(0..20), SCALE), 20), first);
    assert_eq!((second.classes.len(), second.votes.len()), (7, 70));
    assert_eq!(second.votes.iter().sum::<u32>(), 14);
}

#[test]
fn what_does_not_fit_or_has_diverged_is_refused() {
    let published = ensemble(&[model(0), model(1)]);
    let flat = Samples::synthetic(&[784], 10, 5, 1);
    let error = measure(&published, &flat, 5, cpu()).unwrap_err().to_string();
    assert!(error.contains("[28, 28, 1]") && error.contains("[784]"), "{error}");
    let mut diverged = model(1);
    *diverged.weights.last_mut().unwrap() = f32::NAN;
    let error = measure(&ensemble(&[model(0), diverged]), &samples(), 5, cpu()).unwrap_err();
    assert!(matches!(error, Error::NotANumber), "{error}");
}

/// A network whose one number is the probability of the second of two classes.
fn yes_or_no(seed: u64) -> Model {
    let layers = r#"[{"Flatten": {}}, {"Dense": {"units": 1, "activation": "sigmoid"}}]"#;
    let layers = spec::Model::Layers(serde_json::from_str(layers).unwrap());
    let network = network(&layers, &SHAPE, 2).unwrap();
    Model { weights: network.graph.initialize(seed), graph: network.graph, ..model(seed) }
}

#[test]
fn one_number_tells_two_classes_apart() {
    let samples = Samples::synthetic(&SHAPE, 2, 150, 1);
    let alone = Published::from(yes_or_no(0));
    let mut jury = Jury::new(&alone, samples.len(), cpu()).unwrap();
    let verdict = jury.ask(input(samples.rows(0..samples.len()), SCALE), samples.len());
    let mut loss = 0.0;
    let mut correct = 0;
    for ((row, &label), class) in
        verdict.probabilities.chunks_exact(2).zip(&samples.y).zip(&verdict.classes)
    {
        assert_eq!(row[0], 1.0 - row[1]);
        assert_eq!(*class, usize::from(row[1] > 0.5));
        loss += f64::from(cross_entropy(row[label as usize]));
        correct += usize::from(*class == label as usize);
    }
    let found = measure(&alone, &samples, 40, cpu()).unwrap();
    assert_eq!(found.accuracy, correct as f64 / 150.0);
    assert!((found.loss - loss / 150.0).abs() < 1e-5, "{} is not {}", found.loss, loss / 150.0);
    let jury = ensemble(&[yes_or_no(0), yes_or_no(1), yes_or_no(2)]);
    assert!(measure(&jury, &samples, 40, cpu()).unwrap().loss.is_finite());
    let three = Samples::synthetic(&SHAPE, 3, 15, 1);
    assert!(matches!(measure(&alone, &three, 40, cpu()), Err(Error::Orders(_))));
}
