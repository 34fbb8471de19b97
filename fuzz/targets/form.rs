//! A form or an image from anybody. The first line is the content type, the rest is the body.
#![no_main]

mod again;

use libfuzzer_sys::fuzz_target;
use serve::{Asked, Limits};

fuzz_target!(|bytes: &[u8]| {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let Ok(content_type) = std::str::from_utf8(&bytes[..end]) else {
        return;
    };
    let body = bytes.get(end + 1..).unwrap_or_default();
    match Asked::read(content_type, body, &Limits::default()) {
        Ok(asked) => again::same(&asked),
        Err(problem) => {
            assert!(problem.status.is_client_error());
            assert!(!problem.sentence.is_empty() && problem.sentence.len() < 2000);
        }
    }
});
