//! The optimizers against Keras' formulas in f64, fed the same gradients; and clipping.

mod support;

use engine::{Clip, Cpu, Isa, Optimizer, Trained};
use model::Graph;
use spec::{Adam, Adamw, Rmsprop, Sgd};
use support::{bits, every_cpu, uniform};

const LEN: usize = 20_011;

/// One element's state in f64.
#[derive(Clone, Copy, Default)]
struct Element {
    w: f64,
    first: f64,
    second: f64,
}

fn sgd(rule: Sgd, e: &mut Element, g: f64, rate: f64) {
    let momentum = f64::from(rule.momentum);
    if momentum == 0.0 {
        e.w -= rate * g;
        return;
    }
    e.first = momentum * e.first - rate * g;
    e.w += if rule.nesterov { momentum * e.first - rate * g } else { e.first };
}

fn adam(rule: Adam, e: &mut Element, (g, rate, step): (f64, f64, i32)) {
    let (beta_1, beta_2) = (rule.beta_1, rule.beta_2);
    e.first += (g - e.first) * (1.0 - beta_1);
    e.second += (g * g - e.second) * (1.0 - beta_2);
    let alpha = rate * (1.0 - beta_2.powi(step)).sqrt() / (1.0 - beta_1.powi(step));
    e.w -= e.first * alpha / (e.second.sqrt() + f64::from(rule.epsilon));
}

/// Weights decay by the rate that is not corrected, and before they move.
fn adamw(rule: Adamw, e: &mut Element, (g, rate, step): (f64, f64, i32)) {
    let Adamw { learning_rate, beta_1, beta_2, epsilon, weight_decay } = rule;
    e.w -= e.w * f64::from(weight_decay) * rate;
    adam(Adam { learning_rate, beta_1, beta_2, epsilon }, e, (g, rate, step));
}

fn rmsprop(rule: Rmsprop, e: &mut Element, g: f64, rate: f64) {
    let rho = rule.rho;
    e.first = rho * e.first + (1.0 - rho) * g * g;
    let increment = rate * g / (e.first + f64::from(rule.epsilon)).sqrt();
    if rule.momentum == 0.0 {
        e.w -= increment;
    } else {
        e.second = f64::from(rule.momentum) * e.second + increment;
        e.w -= e.second;
    }
}

fn rules() -> Vec<spec::Optimizer> {
    let sgd =
        |momentum, nesterov| spec::Optimizer::Sgd(Sgd { learning_rate: 0.01, momentum, nesterov });
    let rmsprop = |momentum| spec::Optimizer::Rmsprop(Rmsprop { momentum, ..Rmsprop::default() });
    vec![
        sgd(0.0, false),
        sgd(0.9, false),
        sgd(0.9, true),
        spec::Optimizer::Adam(Adam::default()),
        spec::Optimizer::Adamw(Adamw::default()),
        spec::Optimizer::Adamw(Adamw {
            weight_decay: 0.5,
            learning_rate: 0.01,
            ..Adamw::default()
        }),
        rmsprop(0.0),
        rmsprop(0.8),
    ]
}

fn gradients(step: u64) -> Vec<f32> {
    uniform(step + 50, LEN, 0.1)
}

#[test]
fn ten_steps_agree_with_the_formulas_in_f64() {
    for rule in rules() {
        let cpu = Cpu::new(2, Isa::detect());
        let mut weights = uniform(1, LEN, 1.0);
        let start = weights.iter().map(|&w| Element { w: f64::from(w), ..Element::default() });
        let mut elements: Vec<Element> = start.collect();
        let mut optimizer = Optimizer::new(rule, LEN);
        for step in 0..10 {
            // The rate is the caller's, changing from step to step as a schedule's would.
            let rate = rule.learning_rate() * (1.0 - step as f32 / 20.0);
            let gradients = gradients(step);
            optimizer.apply(&cpu, &mut weights, &gradients, rate, None);
            for (element, &g) in elements.iter_mut().zip(&gradients) {
                let (g, rate) = (f64::from(g), f64::from(rate));
                match rule {
                    spec::Optimizer::Sgd(rule) => sgd(rule, element, g, rate),
                    spec::Optimizer::Adam(rule) => adam(rule, element, (g, rate, step as i32 + 1)),
                    spec::Optimizer::Adamw(rule) => {
                        adamw(rule, element, (g, rate, step as i32 + 1));
                    }
                    spec::Optimizer::Rmsprop(rule) => rmsprop(rule, element, g, rate),
                }
            }
        }
        for (w, element) in weights.iter().zip(&elements) {
            assert!((f64::from(*w) - element.w).abs() < 2e-6, "{rule:?}: {w}, not {}", element.w);
        }
    }
}

/// Where floats end, many processors take a hundred times as long for each operation.
#[test]
fn what_nothing_is_added_to_ends_at_zero_and_not_right_above() {
    let cpu = Cpu::new(1, Isa::detect());
    for rule in rules() {
        let mut optimizer = Optimizer::new(rule, 3);
        let mut weights = [0.5f32; 3];
        optimizer.apply(&cpu, &mut weights, &[0.1, -1e-7, 1e-17], 0.01, None);
        for _ in 0..2_000 {
            optimizer.apply(&cpu, &mut weights, &[0.0; 3], 0.01, None);
            for slot in optimizer.slots() {
                assert!(slot.iter().all(|x| !x.is_subnormal()), "{rule:?}: {:?}", &slot[..]);
            }
        }
    }
}

#[test]
fn a_restored_optimizer_goes_on_with_the_same_bits() {
    for rule in rules() {
        let cpu = Cpu::new(1, Isa::detect());
        let mut straight = (Optimizer::new(rule, LEN), uniform(1, LEN, 1.0));
        for step in 0..6 {
            straight.0.apply(&cpu, &mut straight.1, &gradients(step), 0.01, None);
        }
        let mut first = (Optimizer::new(rule, LEN), uniform(1, LEN, 1.0));
        for step in 0..3 {
            first.0.apply(&cpu, &mut first.1, &gradients(step), 0.01, None);
        }
        let mut second = Optimizer::new(rule, LEN);
        let slots = first.0.slots().iter().map(|slot| slot.to_vec());
        second.restore(&slots.collect::<Vec<_>>(), first.0.steps());
        for step in 3..6 {
            second.apply(&cpu, &mut first.1, &gradients(step), 0.01, None);
        }
        assert_eq!(bits(&first.1), bits(&straight.1), "{rule:?}");
    }
}

#[test]
fn clipping_bounds_the_norm_or_each_value() {
    let rule = spec::Optimizer::Sgd(Sgd::default());
    let cpu = Cpu::new(2, Isa::detect());
    let gradients = gradients(0);
    let step = |clip: Clip| {
        let mut weights = vec![0.0; LEN];
        Optimizer::new(rule, LEN).apply(&cpu, &mut weights, &gradients, 1.0, Some(clip));
        weights
    };
    let norm = |values: &[f32]| values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
    let whole = norm(&gradients);
    assert!((norm(&step(Clip::Norm(0.5))) - 0.5).abs() < 1e-6);
    assert!((norm(&step(Clip::Norm(100.0))) - whole).abs() < 1e-6 * whole);
    for (w, g) in step(Clip::Value(0.03)).iter().zip(&gradients) {
        assert_eq!(-w, g.clamp(-0.03, 0.03));
    }
}

#[test]
fn updates_give_the_same_bits_everywhere() {
    for rule in rules() {
        let results: Vec<_> = every_cpu()
            .iter()
            .map(|cpu| {
                let mut weights = uniform(1, LEN, 1.0);
                let mut optimizer = Optimizer::new(rule, LEN);
                for step in 0..3 {
                    let clip = Some(Clip::Norm(1.5));
                    optimizer.apply(cpu, &mut weights, &gradients(step), 0.01, clip);
                }
                bits(&weights)
            })
            .collect();
        assert!(results.iter().all(|result| *result == results[0]), "{rule:?}");
    }
}

/// A dense layer, a normalization, and another dense layer that is frozen.
fn partly_trained() -> Graph {
    let layers = r#"[{"Dense": {"units": 100}}, {"BatchNormalization": {}},
        {"Dense": {"units": 60, "trainable": false}}, {"Dense": {"units": 5}}]"#;
    let layers = serde_json::from_str(layers).expect("layers");
    Graph::sequential(&[50], layers).expect("a network")
}

#[test]
fn what_is_not_trained_only_loses_its_gradient_and_counts_for_no_norm() {
    let graph = partly_trained();
    let (trained, len) = (Trained::of(&graph), graph.parameter_count());
    let gradients = uniform(50, len, 0.1);
    for (rule, clip) in rules().into_iter().zip([Clip::Norm(0.5), Clip::Value(0.03)].iter().cycle())
    {
        let mut weights = uniform(1, len, 1.0);
        let mut optimizer = Optimizer::new(rule, trained.clone());
        let cpu = Cpu::new(2, Isa::detect());
        optimizer.apply(&cpu, &mut weights, &gradients, 0.01, Some(*clip));
        // The same of the trained ones alone, moved together.
        let only = |values: &[f32]| -> Vec<f32> {
            trained.ranges().iter().flat_map(|range| &values[range.clone()]).copied().collect()
        };
        let mut alone = only(&uniform(1, len, 1.0));
        let count = alone.len();
        let norm = |values: &[f32]| values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        let squares = optimizer.squares(&cpu, &gradients);
        assert!((squares - norm(&only(&gradients))).abs() < 1e-6 * squares);
        Optimizer::new(rule, count).apply(&cpu, &mut alone, &only(&gradients), 0.01, Some(*clip));
        for (got, want) in only(&weights).iter().zip(&alone) {
            assert!((got - want).abs() < 1e-6, "{rule:?}: {got}, not {want}");
        }
        let start = uniform(1, len, 1.0);
        for i in trained.others().flatten() {
            assert_eq!(weights[i], start[i] - gradients[i]);
        }
        // Servers hold parts, cut at blocks, and come to the same.
        let mut parts = uniform(1, len, 1.0);
        for part in [0..4096, 4096..len] {
            let mut own = Optimizer::new(rule, trained.within(part.clone()));
            let (weights, gradients) = (&mut parts[part.clone()], &gradients[part.clone()]);
            match clip {
                Clip::Norm(limit) => {
                    let scale = limit / (squares.sqrt() as f32).max(*limit);
                    own.apply_scaled(&cpu, weights, gradients, (0.01, scale));
                }
                Clip::Value(_) => own.apply(&cpu, weights, gradients, 0.01, Some(*clip)),
            }
        }
        assert_eq!(bits(&parts), bits(&weights), "{rule:?}");
    }
}
