//! A zip or a tar from anybody, packed or not.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// No file in it is read further.
const MOST: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(files) = data::read_archive(bytes, MOST) else {
        return;
    };
    for (path, bytes) in files {
        assert!(bytes.len() as u64 <= MOST);
        assert!(
            !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|name| name == "..")
        );
    }
});
