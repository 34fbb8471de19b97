# Code is laid out by rustfmt, so that nobody has to think about it.
set -euo pipefail
source .ci/env.sh

cargo fmt --all --check
cargo fmt --manifest-path fuzz/Cargo.toml --check
