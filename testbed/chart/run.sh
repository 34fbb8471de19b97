#!/usr/bin/env bash
# The chart suite: what Helm makes of our chart, with the values that people have and with wrong ones.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/chart/run.sh [BINARY [--only WORDS]]

Renders deploy/chart with a real Helm, without a cluster, and has BINARY (or $TRAINYARD_BIN, or one that
it builds) read the run files that come out. Takes the Helm of testbed/kubernetes, which is built where
it is not there yet, else the one on the path; without any, all checks are skipped. --only: those checks
whose names contain WORDS. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
build_binary
helm=${TRAINYARD_TESTBED:-$HOME/.cache/trainyard}/kubernetes/bin/helm
if ! [ -x "$helm" ]; then
    "$root/testbed/kubernetes/setup.sh" || echo "Helm cannot be built here"
fi
[ -x "$helm" ] || helm=$(command -v helm || true)
exec python3 "$here/suite.py" --bin "$binary" --helm "$helm" "${rest[@]}"
