//! A run file from anybody. Lines that begin with `#set ` are given as `--set`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let sets = text.lines().filter_map(|line| line.strip_prefix("#set "));
    let sets: Vec<String> = sets.map(str::to_string).collect();
    let Ok(run) = spec::parse(text, "fuzz.yaml", &sets) else {
        return;
    };
    // A resolved run file is kept in the run's folder and read again when the run resumes.
    let kept = serde_json::to_string(&run).expect("a resolved run file can be written");
    let again: spec::RunSpec = serde_json::from_str(&kept).expect("and read again");
    assert_eq!(kept, serde_json::to_string(&again).expect("and written again"));
});
