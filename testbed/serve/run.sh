#!/usr/bin/env bash
# The server suite: bad requests by the hundred thousand, and the server beside its own description.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/serve/run.sh [BINARY] [--only WORDS]

Trains small models with BINARY (or $TRAINYARD_BIN, or one that it builds) and serves them on this machine. Sends
100,000 bad requests, each of which must be refused while memory stays as it is, and has schemathesis hold
the server against its /openapi.json. schemathesis is installed by setup.sh; what lacks it is skipped.
--only: `storm`, `contract`, or `contract` and a kind of model. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
build_binary
# Models, samples and servers are those of the browser suite.
export PYTHONPATH="$PYTHONPATH:$root/testbed/browser"
program=$("$here/setup.sh") || program=
exec python3 "$here/suite.py" --bin "$binary" ${program:+--schemathesis "$program"} "${rest[@]}"
