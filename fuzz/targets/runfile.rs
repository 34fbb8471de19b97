//! A run file from anybody. Lines that begin with `#set ` are given as `--set`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let sets = text.lines().filter_map(|line| line.strip_prefix("#set "));
    let sets: Vec<String> = sets.map(str::to_string).collect();
    let run = match spec::parse(text, "fuzz.yaml", &sets) {
        Ok(run) => run,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "an error says something");
            return;
        }
    };
    // A resolved run file is kept in the run's folder and read again when the run resumes.
    let again = spec::parse(&run.to_yaml(), "spec.yaml", &[]).expect("what was resolved is read");
    assert_eq!(run, again);
});
