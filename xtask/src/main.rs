//! The project's own chores, kept in Rust so that they run wherever the project builds.
//!
//! `test` runs all tests; `tidy` checks what the compiler cannot; `generate` writes the files that
//! follow from the code; `image` makes the container image.

mod generate;
mod image;
mod output;
mod test;
mod tidy;
mod tree;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use tree::Tree;

const USAGE: &str = "\
cargo xtask <chore>

  test              run every test of the workspace, and say what was skipped
  tidy              check crate direction, sizes, names, leftovers, examples, links
  generate          write docs/reference from the code
  generate --check  fail, with a diff, where docs/reference is out of date
  image --tag NAME --out FILE [--bin PATH]
                    write the container image into one archive, without a container engine
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            output::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Does one chore, and says whether all is well.
fn run(words: &[&str]) -> Result<bool> {
    match words {
        ["test", further @ ..] => test::test(further),
        ["tidy"] => tidy::tidy(&Tree::open()?),
        ["generate"] => generate::generate(generate::Mode::Write),
        ["generate", "--check"] => generate::generate(generate::Mode::Check),
        ["image", further @ ..] => image::image(further),
        ["--help" | "-h"] => {
            output::say(USAGE.trim_end());
            Ok(true)
        }
        _ => {
            output::complain(USAGE);
            Ok(false)
        }
    }
}
