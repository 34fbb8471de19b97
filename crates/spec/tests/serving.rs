//! What a run file says about serving, and what is wrong with it, word for word.

mod reading;

use reading::{RIGHT, error, messages, set};
use spec::{Action, Duration, RunSpec, Serve, Together};

fn served(spec: &RunSpec) -> (&[String], &Serve) {
    let found = spec.steps.iter().find_map(|step| match &step.action {
        Action::Serve(serve) => Some((step.needs.as_slice(), serve)),
        _ => None,
    });
    found.expect("the file serves")
}

#[test]
fn the_short_form_serves_what_it_measured() {
    let spec = set(&format!("{RIGHT}serve: {{}}\n"), &[]);
    let (needs, serve) = served(&spec);
    assert_eq!((needs, serve), (&["evaluate".to_owned()][..], &Serve::default()));
    assert!(serve.is_private() && serve.port.is_none() && serve.combine == Together::Vote);
    let unmeasured = set(&format!("{RIGHT}evaluate: false\nserve: {{}}\n"), &[]);
    assert_eq!(served(&unmeasured).0, ["train"]);
    let none = set(&format!("{RIGHT}serve: {{}}\n"), &["serve=null"]);
    assert!(none.steps.iter().all(|step| !matches!(step.action, Action::Serve(_))));
}

#[test]
fn the_long_form_of_the_same_is_equal_and_everything_can_be_said() {
    let long = "
name: mnist
steps:
  prepare: { prepare: { data: mnist } }
  train: { needs: [prepare], train: { model: mnist-cnn } }
  evaluate: { needs: [train], evaluate: {} }
  serve: { needs: [evaluate], serve: { port: 8987 } }
";
    let short = set(&format!("{RIGHT}serve: {{}}\n"), &["serve.port=8987"]);
    assert_eq!(set(long, &[]), short);
    let all = "serve: {model: train, port: 80, host: 0.0.0.0, token_file: token, gallery: people,
        examples: tries, combine: mean, batch: 8, wait: 5ms, queue: 9}";
    let spec = set(&format!("{RIGHT}{all}\n"), &[]);
    let expected = Serve {
        model: Some("train".into()),
        port: Some(80),
        host: "0.0.0.0".into(),
        token_file: Some("token".into()),
        gallery: Some("people".into()),
        examples: Some("tries".into()),
        combine: Together::Mean,
        batch: 8,
        wait: Duration::from_millis(5),
        queue: 9,
    };
    assert_eq!(served(&spec).1, &expected);
    assert_eq!(set(&spec.to_yaml(), &[]), spec);
}

#[test]
fn wrong_fields_and_values_say_what_is_right() {
    assert_eq!(
        error(&format!("{RIGHT}serve:\n  prot: 80\n")),
        "mnist.yaml:5:3: serve.prot: unknown field; did you mean `port`?
  5 |   prot: 80
    |   ^^^^"
    );
    assert_eq!(
        messages("serve: {port: 65536, batch: 0, wait: 5, combine: votes}"),
        [
            "serve.port: expected at most 65,535, found `65536`",
            "serve.batch: expected at least 1, found `0`",
            "serve.wait: expected a duration such as `90s`, `2h` or `1h30m`, found `5`",
            "serve.combine: unknown value `votes`; did you mean `vote`?",
        ]
    );
    assert_eq!(messages("serve: {port: 0}"), ["serve.port: expected at least 1, found `0`"]);
    assert_eq!(messages("serve: {wait: 11s}"), ["serve.wait: expected at most 10s, found `11s`"]);
}

#[test]
fn others_need_a_token() {
    assert_eq!(
        error(&format!("{RIGHT}serve: {{ host: 0.0.0.0 }}\n")),
        "mnist.yaml:4:16: serve.host: `0.0.0.0` lets others ask, and these need a token
  4 | serve: { host: 0.0.0.0 }
    |                ^^^^^^^
  hint: add `token_file: token`, a file that is made where there is none"
    );
    for own in ["localhost", "127.0.0.1", "127.0.0.9", "'::1'"] {
        set(&format!("{RIGHT}serve: {{ host: {own} }}\n"), &[]);
    }
}

#[test]
fn a_run_ends_with_one_page_of_a_model_that_it_trains() {
    let file = |page: &str| {
        format!(
            "name: a\nsteps:\n  load: {{prepare: {{data: mnist}}}}\n  \
             small: {{needs: [load], train: {{model: mnist-mlp}}}}\n{page}\n"
        )
    };
    assert_eq!(
        error(&file("  page: {needs: [small], serve: {model: smal}}")),
        "mnist.yaml:5:41: steps.page.serve.model: `smal` is no step that trains
  5 |   page: {needs: [small], serve: {model: smal}}
    |                                         ^^^^
  hint: did you mean `small`?"
    );
    let two = "  a: {needs: [small], serve: {}}\n  b: {needs: [small], serve: {}}";
    let found = error(&file(two));
    assert!(found.contains("steps.b.serve: `a` serves already, and a run ends with one page"));
    let both = error(&file("  page: {needs: [small], serve: {}, evaluate: {}}"));
    assert!(both.contains("the step does more than one thing"), "{both}");
    let beside = error(&format!("{}serve: {{}}\n", file("")));
    assert!(beside.contains("serve: belongs to the short form"), "{beside}");
}
