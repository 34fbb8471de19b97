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

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=${1:-${TRAINYARD_BIN:-}}
(($# == 0)) || shift

if [ -z "$binary" ]; then
    cargo build --release --package trainyard --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/release/trainyard
fi
if [ "$(id -u)" = 0 ] && ! command -v ip >/dev/null && command -v apt-get >/dev/null; then
    echo "installing iproute2"
    { apt-get update && apt-get install --yes --no-install-recommends iproute2; } >/dev/null ||
        echo "iproute2 cannot be installed here"
fi
export PYTHONPATH="$here/.." PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/suite.py" --bin "$binary" "$@"
