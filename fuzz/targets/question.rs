//! The JSON of a request from anybody: numbers, texts, images in base64.
#![no_main]

mod again;

use libfuzzer_sys::fuzz_target;
use serve::{Asked, Limits};

fuzz_target!(|body: &[u8]| {
    match Asked::read("application/json", body, &Limits::default()) {
        Ok(asked) => again::same(&asked),
        Err(problem) => {
            assert!(problem.status.is_client_error());
            assert!(!problem.sentence.is_empty() && problem.sentence.len() < 2000);
        }
    }
});
