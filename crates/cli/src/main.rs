//! The binary `trainyard`.

fn main() {}
