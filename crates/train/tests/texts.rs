//! Ids of words: a network learns by them, and what does not fit is refused before anything computes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use data::{Samples, Values};
use engine::{Cpu, Isa};
use model::{Model, Network};
use preprocess::{Form, Text};
use random::{Key, Purpose};
use spec::{Length, Train};
use train::{
    Clock, Context, Error, Material, Origin, Pulse, Settings, Trainer, check_ids, fit_alone,
    measure,
};

const LENGTH: usize = 6;
const WORDS: u32 = 12;

const NETWORK: &str = "{layers: [{Embedding: {input_dim: 12, output_dim: 4, mask_zero: true}}, \
                        {Bidirectional: {layer: {GRU: {units: 6, return_sequences: true}}}}, \
                        {LSTM: {units: 6}}, {Dense: {units: 1, activation: sigmoid}}]}";

fn network(text: &str) -> Network {
    let model = spec::Model::parse(text).unwrap();
    model::network(&model, &[LENGTH], 2).unwrap()
}

/// Texts that are of the second class if they hold the word 5, with zeros in front.
fn samples(wide: bool) -> Samples {
    let key = Key::new(4, Purpose::Synthetic);
    let (mut ids, mut y) = (vec![], vec![]);
    for sample in 0..120 {
        let key = key.with(sample);
        let zeros = key.below(99, 3) as usize;
        let mut text: Vec<u32> =
            (0..LENGTH as u64).map(|i| 6 + key.below(i, u64::from(WORDS) - 6) as u32).collect();
        text[..zeros].fill(0);
        if sample % 2 == 1 {
            text[zeros + key.below(98, (LENGTH - zeros) as u64) as usize] = 5;
        }
        ids.extend(text);
        y.push((sample % 2) as u32);
    }
    let x = match wide {
        true => Values::U32(ids),
        false => Values::U16(ids.into_iter().map(|id| id as u16).collect()),
    };
    Samples::new(vec![LENGTH], x, y, Some(2)).unwrap()
}

fn trainer(network: Network, samples: &Samples, words: u32) -> Result<Trainer, Error> {
    let model = spec::Model::parse("mnist-mlp").unwrap();
    let train = Train { batch: 20, length: Length::Steps(150), ..Train::new(model) };
    let settings = Settings { rate: 0.02, ..Settings::of(&train, &network, 3) };
    let form = Form::Text(Text::new(vec![], words, LENGTH));
    let origin = Origin { form, ..Origin::default() };
    let material = Material::of_one(network, samples, origin);
    Trainer::new(material, settings, Cpu::new(2, Isa::detect()))
}

fn train(samples: Samples) -> Result<Model, Error> {
    let mut trainer = trainer(network(NETWORK), &samples, WORDS)?;
    let (clock, pulse) = (Clock::manual(), Pulse::default());
    let mut context =
        Context { clock: &clock, stop: &|| false, pulse: &pulse, log: &|_| {}, voice: &mut |_| {} };
    fit_alone(&mut trainer, &Arc::new(samples), &mut context, None)?;
    Ok(trainer.model())
}

#[test]
fn a_network_learns_by_words() {
    let model = train(samples(false)).unwrap();
    let same = train(samples(true)).unwrap();
    assert_eq!(model.weights, same.weights, "wide ids are the same ids");
    let found = measure(&model.into(), &samples(false), 32, Cpu::new(1, Isa::detect())).unwrap();
    assert!(found.accuracy > 0.95, "{found:?}");
}

#[test]
fn what_does_not_fit_is_refused_in_a_sentence() {
    let refused = |words: u32| {
        trainer(network(NETWORK), &samples(false), words).err().map(|error| error.to_string())
    };
    assert_eq!(refused(WORDS), None);
    assert!(refused(WORDS + 1).unwrap().contains("input_dim: 12"));
    let numbers = network("{layers: [{Dense: {units: 1, activation: sigmoid}}]}");
    let error = trainer(numbers, &samples(false), WORDS).err().unwrap().to_string();
    assert!(error.contains("begin it with Embedding"), "{error}");

    // Samples that are not what was said of them.
    let mut lying = samples(false);
    let Values::U16(ids) = &mut lying.x else { panic!("they are narrow") };
    ids[77] = 12;
    let error = train(lying).unwrap_err().to_string();
    assert!(error.contains("hold 12") && error.contains("below 12"), "{error}");
    let pictures = Samples::synthetic(&[LENGTH], 2, 40, 1);
    let model = train(samples(false)).unwrap();
    for odd in
        [Values::F32(vec![0.5; 6]), Values::F32(vec![-1.0; 6]), Values::F32(vec![f32::NAN; 6])]
    {
        assert!(check_ids(&model.graph, odd.view()).is_err(), "{odd:?}");
    }
    let error = measure(&model.into(), &pictures, 8, Cpu::new(1, Isa::detect())).unwrap_err();
    assert!(error.to_string().contains("ids of words below 12"), "{error}");
}
