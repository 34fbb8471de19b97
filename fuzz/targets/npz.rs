//! An archive of arrays from anybody.
#![no_main]

use data::npz::{self, Limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(arrays) = npz::read(bytes, &Limits::default()) else {
        return;
    };
    for (name, array) in arrays {
        let elements: usize = array.shape.iter().product();
        assert_eq!(elements, array.values.len(), "{name} does not fill its shape");
    }
});
