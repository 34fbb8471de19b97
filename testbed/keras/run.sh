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

# Two halves at a time: most of what Keras does here keeps one core busy.
suite() { "$python" "$here/suite.py" ${binary:+--bin "$binary"} --half "$1"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
code=0
suite 1 >"$scratch/other" &
suite 0 | tee "$scratch/own" || code=$?
wait $! || code=$?
cat "$scratch/other"
tail -q -n 1 "$scratch/own" "$scratch/other" |
    awk '{ passed += $1; failed += $3; skipped += $5 } END { print passed " passed, " failed " failed, " skipped " skipped" }'
exit "$code"
