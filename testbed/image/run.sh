#!/usr/bin/env bash
# The image suite: the container image, held against the OCI's rules, runc and containerd.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/image/run.sh [BINARY [--only WORDS]]

Makes the image of BINARY (or $TRAINYARD_BIN, or one that it builds) with `cargo xtask image`, checks
the archive, trains in it with runc and loads it into a containerd of its own. Needs root, runc and
containerd, which it installs where apt-get is there; what lacks them is skipped. --only: those checks
whose names contain WORDS. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
build_binary
install_missing runc=runc containerd=containerd
exec python3 "$here/suite.py" --bin "$binary" "${rest[@]}"
