//! Training on faces: triplets of people, or of a file, to embeddings that tell people apart.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use data::{Samples, Values};
use engine::{Cpu, Isa, Jury};
use model::{Model, Published};
use random::{Key, Purpose};
use spec::{Length, Loss, LossName, Train};
use train::{
    Clock, Context, Ending, Material, Origin, Pulse, Settings, Trainer, fit_alone, input, measure,
    recognize, starting_point,
};

/// Pictures of people: each has a pattern of its own, and every picture is shifted in brightness and noisy.
fn people(first: u32, count: u32, pictures: u32) -> Samples {
    const SIDE: usize = 16;
    let key = Key::new(7, Purpose::Synthetic);
    let (mut x, mut y) = (vec![], vec![]);
    for person in 0..count {
        let pattern = key.with(0).with(u64::from(first + person));
        for picture in 0..pictures {
            let noise = key.with(1).with(u64::from(first + person)).with(u64::from(picture));
            let light = noise.uniform(1 << 20) * 120.0;
            for pixel in 0..(SIDE * SIDE) as u64 {
                // Patterns are of squares of four by four pixels.
                let square = pixel / 64 * 4 + pixel % 16 / 4;
                let value = pattern.uniform(square) * 90.0 + noise.uniform(pixel) * 45.0 + light;
                x.push(value as u8);
            }
            y.push(person);
        }
    }
    Samples::new(vec![SIDE, SIDE, 1], Values::U8(x), y, None).unwrap()
}

fn training(steps: u64) -> Train {
    let model = spec::Model::parse("{name: facenet-small, embedding: 16}").unwrap();
    Train { batch: 8, length: Length::Steps(steps), ..Train::new(model) }
}

fn trainer(train: &Train, samples: &Samples, cpu: Cpu) -> Trainer {
    let (network, _) = starting_point(train, &samples.shape, samples.classes).unwrap();
    let settings = Settings::of(train, &network, 3);
    let material = Material::of_one(network, samples, Origin::default());
    Trainer::new(material, settings, cpu).unwrap()
}

fn fit(trainer: &mut Trainer, samples: &Samples, stop_at: Option<u64>) -> Ending {
    let (clock, pulse) = (Clock::manual(), Pulse::default());
    let asked = || stop_at.is_some_and(|step| pulse.step() >= step);
    let mut context =
        Context { clock: &clock, stop: &asked, pulse: &pulse, log: &|_| {}, voice: &mut |_| {} };
    fit_alone(trainer, &Arc::new(samples.clone()), &mut context, None).unwrap()
}

fn cpu() -> Cpu {
    Cpu::new(2, Isa::detect())
}

#[test]
fn people_never_trained_on_are_told_apart() {
    let (samples, others) = (people(0, 12, 6), people(100, 8, 5));
    let mut trainer = trainer(&training(150), &samples, cpu());
    // Of each person ten pairs of thirty, and ten of sixty-six negatives.
    assert_eq!(trainer.samples_in(trainer.steps_per_epoch()), 12 * 100);
    fit(&mut trainer, &samples, None);
    let model = trainer.model();
    assert!(model.card.embedding);
    let published = Published::One(Box::new(model));
    let faces = recognize(&published, &others, (10, 1.0), cpu()).unwrap().unwrap();
    assert_eq!((faces.people, faces.probes), (8, 32));
    let [trained, untrained] = [faces.trained, faces.untrained].map(|way| way.top_1.unwrap());
    assert!(trained > 0.5 && trained > untrained, "{faces:?}");
    assert!(faces.trained.verification > faces.pixels.verification, "{faces:?}");
    let metrics = measure(&published, &others, 10, cpu()).unwrap();
    assert!(metrics.accuracy > 0.7 && metrics.loss.is_finite(), "{metrics:?}");
    // However many at a time.
    assert_eq!(recognize(&published, &others, (7, 1.0), cpu()).unwrap(), Some(faces));
}

#[test]
fn a_file_of_triplets_is_trained_on_as_it_is() {
    let drawn = people(0, 5, 4).to_triplets(6);
    assert_eq!((drawn.shape.as_slice(), drawn.len()), (&[3, 16, 16, 1][..], 30));
    let mut trainer = trainer(&training(6), &drawn, cpu());
    assert_eq!(trainer.samples_in(trainer.steps_per_epoch()), 30);
    fit(&mut trainer, &drawn, None);
    let model = trainer.model();
    assert_eq!(model.card.input.shape, [16, 16, 1]);
    let published = Published::One(Box::new(model));
    let faces = recognize(&published, &drawn, (10, 1.0), cpu()).unwrap().unwrap();
    assert_eq!((faces.people, faces.probes, faces.trained.top_1), (0, 30, None));
    assert!(measure(&published, &drawn, 10, cpu()).unwrap().loss.is_finite());
}

#[test]
fn a_loop_that_left_goes_on_to_the_same_bits_whatever_the_threads() {
    let samples = people(0, 4, 4);
    let train = training(60);
    let mut whole = trainer(&train, &samples, Cpu::new(1, Isa::detect()));
    fit(&mut whole, &samples, None);
    let mut first = trainer(&train, &samples, cpu());
    assert_eq!(fit(&mut first, &samples, Some(23)), Ending::Left);
    let mut second = trainer(&train, &samples, cpu());
    second.restore(first.snapshot()).unwrap();
    fit(&mut second, &samples, None);
    assert_eq!(whole.model().weights, second.model().weights);
}

#[test]
fn frozen_layers_keep_their_weights() {
    let samples = people(0, 4, 4);
    let model = spec::Model::parse("{name: facenet-small, embedding: 16, freeze: 9}").unwrap();
    let train = Train { model, ..training(5) };
    let mut trainer = trainer(&train, &samples, cpu());
    let before = trainer.model().weights;
    fit(&mut trainer, &samples, None);
    let Model { graph, weights, .. } = trainer.model();
    let changed = |node: usize| {
        let mut ranges = graph.weights_of(node).iter().map(|weight| weight.range.clone());
        ranges.any(|range| weights[range.clone()] != before[range])
    };
    assert!((0..=9).all(|node| !changed(node)));
    assert!((10..graph.nodes().len()).any(changed));
}

#[test]
fn what_is_no_embedding_and_what_is_none_else_are_refused() {
    let refused = |model: &str, loss: Option<LossName>| {
        let model = spec::Model::parse(model).unwrap();
        let train = Train { loss: loss.map(Loss::of), ..Train::new(model) };
        starting_point(&train, &[16, 16, 1], 10).unwrap_err().to_string()
    };
    let error = refused("mnist-mlp", Some(LossName::Triplet));
    assert!(error.contains("triplets want embeddings"), "{error}");
    let numbers = "{layers: [Flatten, {Dense: {units: 10}}]}";
    let error = refused(numbers, Some(LossName::SparseCategoricalCrossentropy));
    assert!(error.contains("softmax"), "{error}");
    // Of nobody two pictures, or nobody else.
    for lonely in [people(0, 5, 1), people(0, 1, 5)] {
        let train = training(1);
        let (network, _) = starting_point(&train, &lonely.shape, lonely.classes).unwrap();
        let settings = Settings::of(&train, &network, 3);
        let material = Material::of_one(network, &lonely, Origin::default());
        let error = Trainer::new(material, settings, cpu()).err().unwrap().to_string();
        assert!(error.contains("no triplet can be drawn"), "{error}");
    }
}

#[test]
fn facenet_takes_a_step_and_answers() {
    let pixels = Samples::synthetic(&[160, 160, 3], 2, 4, 5);
    let samples = Samples { y: vec![0, 0, 1, 1], ..pixels };
    let train = Train {
        batch: 1,
        length: Length::Steps(1),
        ..Train::new(spec::Model::parse("facenet").unwrap())
    };
    let mut trainer = trainer(&train, &samples, cpu());
    let before = trainer.model().weights;
    fit(&mut trainer, &samples, None);
    let model = trainer.model();
    assert_eq!(model.weights.len(), 22_808_144);
    assert!(model.non_finite() == 0 && model.weights != before);
    let (scale, published) = (model.card.input.scale, Published::from(model));
    let mut jury = Jury::new(&published, 2, cpu()).unwrap();
    let rows = jury.embed(input(samples.rows(0..2), scale), 2);
    assert_eq!(rows.len(), 256);
    for row in rows.chunks_exact(128) {
        let length: f32 = row.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
}
