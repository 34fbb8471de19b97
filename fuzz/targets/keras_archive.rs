//! A `.keras` archive from anybody. The archive itself is made here, since its checksums would keep
//! all but right files from what is inside: a configuration, a zero byte, and a file of weights.
#![no_main]

use std::io::{Cursor, Write};

use libfuzzer_sys::fuzz_target;
use model::{Format, Model};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fuzz_target!(|bytes: &[u8]| {
    let _ = Model::from_bytes(bytes);
    let cut = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let weights = bytes.get(cut + 1..).unwrap_or_default();
    let archive = packed(&[
        ("metadata.json", b"{}"),
        ("config.json", &bytes[..cut]),
        ("model.weights.h5", weights),
    ]);
    let Ok(model) = Model::from_bytes(&archive) else {
        return;
    };
    assert_eq!(model.weights.len(), model.graph.parameter_count());
    let Ok(written) = model.to_bytes_as(Format::Keras) else {
        return;
    };
    let again = Model::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.graph, model.graph);
    assert_eq!(again.weights_sha256(), model.weights_sha256());
});

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in files {
        zip.start_file(
            *name,
            SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored),
        )
        .expect("a good name");
        zip.write_all(bytes).expect("memory takes all that is written to it");
    }
    zip.finish().expect("memory takes all that is written to it").into_inner()
}
