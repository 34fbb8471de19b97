# Our code beside the real thing, with the binary that the examples ran.
set -euo pipefail
source .ci/env.sh

cargo build --release --package trainyard
TRAINYARD_BIN="$CARGO_TARGET_DIR/release/trainyard" testbed/run
