//! Any spec, written and read again, is the same spec; any text at all is read without a panic.

mod layers;

use layers::layer;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spec::{
    self as spec, Action, Adam, Adamw, Assign, Average, Builtin, Checkpoint, Clip, Color, Combine,
    Data, Duration, EarlyStop, Evaluate, Freeze, Holdout, Length, Loss, LossName, Mode, Model,
    Monitor, Optimizer, Outer, Pair, ParameterServer, Prepare, Rate, Reduction, Rmsprop, RunSpec,
    Schedule, Sgd, Split, Step, Sync, Train,
};

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9-]{0,39}"
}

/// Numbers above 0 of every size that training can use.
fn rate() -> impl Strategy<Value = f32> {
    (1e-30f32..1.0).prop_union(1.0f32..1e6)
}

fn share() -> impl Strategy<Value = f32> {
    0.0f32..1.0
}

fn holdout() -> impl Strategy<Value = Holdout> {
    prop_oneof![
        Just(Holdout::None),
        (1e-9f64..0.999_999).prop_map(Holdout::Share),
        (1u64..1 << 53).prop_map(Holdout::Count),
    ]
}

fn data() -> impl Strategy<Value = Data> {
    let from = prop_oneof![Just("mnist".to_string()), Just("fashion-mnist".to_string())];
    // Texts that YAML would read as something else unless quoted, among others.
    let label =
        prop_oneof![Just("null"), Just("5"), Just("true"), Just(""), Just("- x: #y"), Just("é\n")];
    let labels = option::of(label.prop_map(|label| vec![label.to_string(), "other".into()]));
    let assign = prop_oneof![Just(Assign::Split), Just(Assign::Copy)];
    let common = (from, option::of("[ -~]{1,20}"), assign, holdout(), any::<bool>(), labels);
    (common, pictures(), texts()).prop_map(
        |((from, mirror, assign, validation, stratify, labels), pictures, texts)| Data {
            from,
            mirror,
            assign,
            validation,
            stratify,
            labels,
            image_size: pictures.image_size,
            color: pictures.color,
            skip_up_to: pictures.skip_up_to,
            hold_out_people: pictures.hold_out_people,
            ..texts
        },
    )
}

/// Data of which only the fields of pictures count.
fn pictures() -> impl Strategy<Value = Data> {
    let color = prop_oneof![Just(Color::Rgb), Just(Color::Grey)];
    let share = option::of(0.0f64..=1.0);
    (option::of(pair()), option::of(color), share, option::of(1usize..=1_000_000)).prop_map(
        |(image_size, color, skip_up_to, hold_out_people)| Data {
            image_size,
            color,
            skip_up_to,
            hold_out_people,
            ..Data::named("mnist")
        },
    )
}

/// Data of which only the fields of texts and CSV count.
fn texts() -> impl Strategy<Value = Data> {
    let word = || option::of("[ -~]{1,20}");
    let size = option::of(5usize..=200_000);
    (word(), size, option::of(1usize..=65_536), word(), word()).prop_map(
        |(vocabulary, vocabulary_size, length, label, text)| Data {
            vocabulary,
            vocabulary_size,
            length,
            label,
            text,
            ..Data::named("mnist")
        },
    )
}

fn pair() -> impl Strategy<Value = Pair> {
    (1usize..=65_536, 1usize..=65_536).prop_map(|(height, width)| Pair { height, width })
}

fn model() -> impl Strategy<Value = Model> {
    let freeze = prop_oneof![
        (0usize..=10_000).prop_map(Freeze::First),
        vec("[ -~]{1,20}", 0..4).prop_map(Freeze::Named)
    ];
    (thawed(), option::of(freeze)).prop_map(|(model, freeze)| match freeze {
        None => model,
        Some(freeze) => Model::Frozen(Box::new(model), freeze),
    })
}

fn thawed() -> impl Strategy<Value = Model> {
    prop_oneof![
        (1usize..10_000)
            .prop_map(|hidden_units| Model::Builtin(Builtin::MnistMlp { hidden_units })),
        [share(), share()].prop_map(|dropout| Model::Builtin(Builtin::MnistCnn { dropout })),
        (1usize..100_000)
            .prop_map(|vocabulary_size| Model::Builtin(Builtin::ImdbBigru { vocabulary_size })),
        (share(), option::of(pair()), 2usize..1000).prop_map(|(dropout, image_size, embedding)| {
            Model::Builtin(Builtin::Facenet { dropout, image_size, embedding })
        }),
        vec(layer(), 1..6).prop_map(Model::Layers),
        "[ -~]{0,20}".prop_map(|stem| Model::File(format!("{stem}.safetensors"))),
        "[ -~]{0,20}".prop_map(|stem| Model::Fresh(format!("{stem}.h5"))),
    ]
}

fn optimizer() -> impl Strategy<Value = Optimizer> {
    prop_oneof![
        (rate(), share(), any::<bool>()).prop_map(|(learning_rate, momentum, nesterov)| {
            Optimizer::Sgd(Sgd { learning_rate, momentum, nesterov })
        }),
        (rate(), 0.0..1.0, 0.0..1.0, 1e-30f32..1.0).prop_map(
            |(learning_rate, beta_1, beta_2, epsilon)| {
                Optimizer::Adam(Adam { learning_rate, beta_1, beta_2, epsilon })
            }
        ),
        (rate(), share(), 0.0..1.0, 0.0..1.0, 1e-30f32..1.0).prop_map(
            |(learning_rate, weight_decay, beta_1, beta_2, epsilon)| {
                Optimizer::Adamw(Adamw { learning_rate, weight_decay, beta_1, beta_2, epsilon })
            }
        ),
        (rate(), 0.0..1.0, share(), 1e-30f32..1.0).prop_map(
            |(learning_rate, rho, momentum, epsilon)| {
                Optimizer::Rmsprop(Rmsprop { learning_rate, rho, momentum, epsilon })
            }
        ),
    ]
}

fn schedule() -> impl Strategy<Value = Schedule> {
    prop_oneof![
        Just(Schedule::Constant),
        (0u64..1000, share())
            .prop_map(|(warmup_steps, final_share)| Schedule::Cosine { warmup_steps, final_share }),
        (1u64.., rate(), any::<bool>()).prop_map(|(decay_steps, rate, staircase)| {
            Schedule::Exponential { decay_steps, rate, staircase }
        }),
        (vec(1u64..1000, 0..5), vec(rate(), 6)).prop_map(|(gaps, mut rates)| {
            rates.truncate(gaps.len() + 1);
            let sum = |at: &mut u64, gap| {
                *at += gap;
                Some(*at)
            };
            let boundaries = gaps.into_iter().scan(0, sum).collect();
            Schedule::Piecewise { boundaries, rates }
        }),
    ]
}

fn early_stop() -> impl Strategy<Value = EarlyStop> {
    let monitor = prop_oneof![Just(Monitor::Loss), Just(Monitor::Accuracy)];
    (monitor, 1u32..1000, 0.0f64..1e9, any::<bool>()).prop_map(
        |(monitor, patience, min_delta, restore_best)| EarlyStop {
            monitor,
            patience,
            min_delta,
            restore_best,
        },
    )
}

fn learning_rate() -> impl Strategy<Value = Rate> {
    let scaled = (share(), 1e-30f32..1.0).prop_map(|(base, per_worker)| Rate { base, per_worker });
    prop_oneof![rate().prop_map(Rate::from), scaled]
}

fn average() -> impl Strategy<Value = Average> {
    let sync = prop_oneof![
        Just(Sync::Epoch),
        (1u64..).prop_map(Sync::Steps),
        (1u32..1000).prop_map(Sync::Rounds)
    ];
    let outer =
        (share(), rate()).prop_map(|(momentum, learning_rate)| Outer { momentum, learning_rate });
    let mean = (sync, option::of(outer)).prop_map(|(sync, outer)| Average {
        sync,
        outer,
        ..Average::default()
    });
    let alone = prop_oneof![Just(Combine::Mean), Just(Combine::Vote)].prop_map(|combine| Average {
        sync: Sync::Rounds(1),
        shared_init: false,
        combine,
        ..Average::default()
    });
    prop_oneof![mean, alone]
}

/// What a run file can say of workers and how they work together.
fn together() -> impl Strategy<Value = (usize, spec::Strategy)> {
    let several = || 1usize..=65_536;
    prop_oneof![
        Just((1, spec::Strategy::Single)),
        several().prop_map(|workers| (workers, spec::Strategy::AllReduce)),
        (several(), average())
            .prop_map(|(workers, average)| (workers, spec::Strategy::Average(average))),
        (5usize..=65_536, servers())
            .prop_map(|(workers, servers)| (workers, spec::Strategy::ParameterServer(servers))),
    ]
}

fn servers() -> impl Strategy<Value = ParameterServer> {
    let mode = prop_oneof![
        Just((Mode::Async, None)),
        option::of(1usize..5).prop_map(|replicas| (Mode::Sync, replicas))
    ];
    (1usize..=1024, mode, 0u64..100).prop_map(
        |(servers, (mode, replicas_to_aggregate), accuracy_every)| ParameterServer {
            servers,
            mode,
            replicas_to_aggregate,
            accuracy_every,
        },
    )
}

fn train() -> impl Strategy<Value = Train> {
    let length = prop_oneof![
        (1u32..=1_000_000).prop_map(Length::Epochs),
        (1001u64..).prop_map(Length::Steps),
        Just(Length::Endless)
    ];
    let clip = prop_oneof![rate().prop_map(Clip::Norm), rate().prop_map(Clip::Value)];
    let loss = prop_oneof![Just(Reduction::Mean), Just(Reduction::Sum)]
        .prop_map(|reduction| Loss { reduction, ..Loss::default() });
    let triplet = (option::of(0f32..1e6), option::of(1usize..1000), option::of(1usize..1000));
    let triplet = triplet.prop_map(|(alpha, pairs, negatives)| Loss {
        alpha,
        pairs,
        negatives,
        ..Loss::of(LossName::Triplet)
    });
    let loss = prop_oneof![loss, triplet];
    let checkpoint = (1u64..1 << 50, 1u32..=1000)
        .prop_map(|(millis, keep)| Checkpoint { every: Duration::from_millis(millis), keep });
    let first = (model(), length, 1usize..=65_536, option::of(optimizer()));
    let second = (option::of(loss), schedule(), option::of(clip), option::of(early_stop()));
    let third = (option::of(1usize..=4096), option::of(learning_rate()), together());
    (first, second, third, checkpoint).prop_map(
        |(first, second, (threads, learning_rate, (workers, strategy)), checkpoint)| {
            let (model, length, batch, optimizer) = first;
            let (loss, schedule, clip, early_stop) = second;
            let (model, length) = possible(model, length, &strategy, &schedule);
            let triplet = |loss: &Loss| loss.name == LossName::Triplet;
            let loss = loss.filter(|loss| match triplet(loss) {
                true => !votes(&strategy),
                false => !model.embeds(),
            });
            Train {
                workers,
                strategy,
                length,
                batch,
                optimizer,
                learning_rate,
                loss,
                schedule,
                clip,
                early_stop,
                threads,
                checkpoint,
                ..Train::new(model)
            }
        },
    )
}

fn votes(strategy: &spec::Strategy) -> bool {
    matches!(strategy, spec::Strategy::Average(average) if average.combine == Combine::Vote)
}

/// Another model and length where those do not go with the rest.
fn possible(
    model: Model,
    length: Length,
    strategy: &spec::Strategy,
    schedule: &Schedule,
) -> (Model, Length) {
    let (mut own_weights, mut has_end) = (false, matches!(schedule, Schedule::Cosine { .. }));
    if let spec::Strategy::Average(average) = strategy {
        own_weights = !average.shared_init;
        has_end |= matches!(average.sync, Sync::Rounds(_)) && average.combine == Combine::Mean;
    }
    let model = match model {
        model
            if (own_weights && matches!(model.thawed(), Model::File(_)))
                || (votes(strategy) && model.embeds()) =>
        {
            Model::Builtin(Builtin::MnistMlp { hidden_units: 3 })
        }
        model => model,
    };
    let length = match length {
        Length::Endless if has_end => Length::Epochs(1),
        length => length,
    };
    (model, length)
}

fn action() -> impl Strategy<Value = Action> {
    let split = prop_oneof![Just(Split::Test), Just(Split::Train)];
    prop_oneof![
        (data(), 1usize..=65_536)
            .prop_map(|(data, shards)| Action::Prepare(Prepare { data, shards })),
        train().prop_map(Action::Train),
        (split, 1usize..=65_536, 0.001f32..2.0).prop_map(|(split, batch, threshold)| {
            Action::Evaluate(Evaluate { split, batch, threshold })
        }),
    ]
}

fn run_spec() -> impl Strategy<Value = RunSpec> {
    let steps = proptest::collection::btree_map(name(), (vec(name(), 0..3), action()), 1..5);
    (name(), any::<u64>(), steps, any::<bool>()).prop_map(|(name, seed, steps, backwards)| {
        let steps = steps.into_iter().map(|(id, (needs, action))| Step { id, needs, action });
        let mut steps: Vec<Step> = steps.collect();
        if backwards {
            steps.reverse();
        }
        RunSpec { name, seed, steps, on: spec::On::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn yaml_gives_the_same_spec_back(spec in run_spec()) {
        let yaml = spec.to_yaml();
        match spec::parse(&yaml, "spec.yaml", &[]) {
            Ok(again) => {
                prop_assert_eq!(&again, &spec);
                prop_assert_eq!(again.to_yaml(), yaml);
            }
            Err(error) => prop_assert!(false, "{error}\n{yaml}"),
        }
    }

    #[test]
    fn json_gives_the_same_spec_back(spec in run_spec()) {
        let json = serde_json::to_string(&spec).unwrap();
        let again: RunSpec = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&again, &spec);
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), json);
    }

    #[test]
    fn whatever_has_weights_can_be_frozen(mut layer in layers::layer()) {
        let mut written = serde_json::to_value(&layer).unwrap();
        for settings in written.as_object_mut().unwrap().values_mut() {
            settings.as_object_mut().unwrap().insert("trainable".into(), false.into());
        }
        layer.freeze();
        match serde_json::from_value::<spec::Layer>(written) {
            Ok(frozen) => {
                prop_assert_eq!(&layer, &frozen);
                prop_assert!(!layer.trainable());
            }
            Err(_) => prop_assert!(layer.trainable(), "it has no weights: {:?}", layer),
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}", set in "\\PC{0,40}") {
        let _ = spec::parse(&text, "any.yaml", &[set]).map_err(|error| error.to_string());
    }

    /// Run files with a part put elsewhere: nearly right, so that they come far.
    #[test]
    fn no_broken_run_file_panics(spec in run_spec(), cut in 0usize..2000, len in 0usize..60, to in 0usize..2000) {
        let chars: Vec<char> = spec.to_yaml().chars().collect();
        let start = cut.min(chars.len());
        let end = (start + len).min(chars.len());
        let mut broken: Vec<char> = chars[..start].iter().chain(&chars[end..]).copied().collect();
        let to = to.min(broken.len());
        broken.splice(to..to, chars[start..end].iter().copied());
        let text: String = broken.into_iter().collect();
        match spec::parse(&text, "any.yaml", &[]) {
            Ok(spec) => prop_assert_eq!(spec::parse(&spec.to_yaml(), "again.yaml", &[]), Ok(spec)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}
