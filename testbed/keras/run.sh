#!/usr/bin/env bash
# The Keras suite: sets up real Keras, then proves recordings and files against it.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/keras/run.sh [BINARY]

Records anew what real Keras computes and compares it with the committed recordings, and checks
that numpy, safetensors and Keras read what BINARY (or $TRAINYARD_BIN) writes. Without a binary
those checks are skipped. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
python=$("$here/setup.sh")
exec "$python" "$here/suite.py" ${binary:+--bin "$binary"}
