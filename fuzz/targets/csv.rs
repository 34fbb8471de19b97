//! Comma-separated values from anybody.
#![no_main]

use data::csv::Rows;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(rows) = Rows::new(bytes, b',').collect::<Result<Vec<_>, _>>() else {
        return;
    };
    // Written with every field in quotes, it is read as the same.
    let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
    let line = |fields: &[String]| fields.iter().map(quoted).collect::<Vec<_>>().join(",");
    let text: Vec<String> = rows.iter().map(|row| line(&row.fields)).collect();
    let again = Rows::new(text.join("\n").as_bytes(), b',')
        .map(|row| row.expect("what was written is read").fields)
        .collect::<Vec<_>>();
    assert!(rows.into_iter().map(|row| row.fields).eq(again));
});
