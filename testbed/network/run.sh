#!/usr/bin/env bash
# The network suite: hosts made of network namespaces, and runs over them that survive what networks do.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/network/run.sh [BINARY [--only WORDS]]

Makes four hosts of network namespaces at one switch, trains over them with BINARY (or $TRAINYARD_BIN,
or one that it builds) and has cables cut, packets lost and processes killed meanwhile. Needs root and
iproute2, which it installs where apt-get is there; without, all checks are skipped. --only: those
checks whose names contain WORDS. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
build_binary
install_missing ip=iproute2
exec python3 "$here/suite.py" --bin "$binary" "${rest[@]}"
