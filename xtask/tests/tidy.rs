//! The project keeps its own rules.

#[test]
fn the_tree_is_tidy() {
    let mut tidy = assert_cmd::Command::new(env!("CARGO_BIN_EXE_xtask"));
    tidy.arg("tidy").assert().success();
}
