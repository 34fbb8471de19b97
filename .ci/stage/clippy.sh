# The lints of Cargo.toml and clippy.toml hold everywhere, tests included.
set -euo pipefail
source .ci/env.sh

cargo clippy --workspace --all-targets -- -D warnings
