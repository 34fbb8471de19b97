use model::{Error, Model, Part, average, mean};
use proptest::prelude::*;

use crate::small_model;

fn parts<'a>(models: &'a [Model], names: &'a [&str], samples: &[u64]) -> Vec<Part<'a>> {
    let each = models.iter().zip(names).zip(samples);
    each.map(|((model, from), &samples)| Part { from, model, samples }).collect()
}

#[test]
fn the_order_of_the_sum_is_a_balanced_tree() {
    // In f32 each of these sums depends on its order.
    let values = [1e8f32, 3.3, -1e8, 7.7, 1e7, -1e7, 0.3];
    let lists: Vec<[f32; 1]> = values.iter().map(|&value| [value]).collect();
    let of = |count: usize| {
        let lists: Vec<(&[f32], u64)> = lists[..count].iter().map(|list| (&list[..], 1)).collect();
        mean(&lists)[0]
    };
    let [a, b, c, d, e, f, g] = values;
    assert_eq!(of(1), a);
    assert_eq!(of(3), ((a + b) + c) / 3.0);
    assert_eq!(of(4), ((a + b) + (c + d)) / 4.0);
    assert_eq!(of(5), (((a + b) + (c + d)) + e) / 5.0);
    assert_eq!(of(6), (((a + b) + (c + d)) + (e + f)) / 6.0);
    assert_eq!(of(7), (((a + b) + (c + d)) + ((e + f) + g)) / 7.0);
}

#[test]
fn samples_are_shares() {
    let [a, b] = [1.25f32, 7.5];
    assert_eq!(mean(&[(&[a], 3), (&[b], 1)]), [(3.0 * a + b) / 4.0]);
    assert_eq!(mean(&[(&[a], 0), (&[b], 9)]), [b]);
}

#[test]
fn the_mean_has_a_card_of_its_own() {
    let models = [small_model(1), small_model(2), small_model(3)];
    let averaged = average(&parts(&models, &["a", "b", "c"], &[1, 1, 1])).unwrap();
    assert_eq!(averaged.card.averaged, models.each_ref().map(Model::weights_sha256));
    assert_eq!(averaged.card.weights_sha256, averaged.weights_sha256());
    assert!(averaged.card.metrics.is_empty());
    assert_eq!(Model::from_bytes(&averaged.to_bytes()).unwrap(), averaged);
    let alone = average(&parts(&models, &["a"], &[1])).unwrap();
    assert_eq!(alone.weights, models[0].weights);
}

#[test]
fn models_that_differ_are_refused_by_name() {
    let first = small_model(1);
    let mut other = first.clone();
    other.card.input.scale = 1.0;
    let refuse = |models: &[Model]| {
        let error = average(&parts(models, &["0.safetensors", "1.safetensors"], &[1, 1]));
        error.unwrap_err()
    };
    let error = refuse(&[first.clone(), other]).to_string();
    assert!(error.starts_with("1.safetensors cannot be averaged with 0.safetensors: its input"));

    let mut other = first.clone();
    let json = serde_json::to_string(&first.graph).unwrap().replace("\"units\":3", "\"units\":4");
    other.graph = serde_json::from_str(&json).unwrap();
    other.weights = other.graph.initialize(1);
    let error = refuse(&[first.clone(), other]);
    assert!(matches!(error, Error::Different { .. }));
    assert!(error.to_string().contains("its layer 3 is {\"name\":\"dense\""), "{error}");

    assert!(matches!(average(&[]), Err(Error::NothingToAverage(_))));
    let empty = average(&parts(&[first], &["a"], &[0]));
    assert!(matches!(empty, Err(Error::NothingToAverage(_))));
}

proptest! {
    #[test]
    fn the_mean_is_the_mean(lists in prop::collection::vec(prop::collection::vec(-1.0..1.0f32, 2500), 1..9)) {
        let borrowed: Vec<(&[f32], u64)> = lists.iter().map(|list| (&list[..], 2)).collect();
        for (element, found) in mean(&borrowed).into_iter().enumerate() {
            let exact = lists.iter().map(|list| f64::from(list[element])).sum::<f64>() / lists.len() as f64;
            prop_assert!((f64::from(found) - exact).abs() < 1e-6);
        }
    }
}
