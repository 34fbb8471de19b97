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

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
binary=${1:-${TRAINYARD_BIN:-}}
(($# == 0)) || shift

# Debian starts a service when it installs containerd, unless this file says not to.
policy=/usr/sbin/policy-rc.d

# install_idle PACKAGE...: without starting anything.
install_idle() {
    if ! [ -e "$policy" ]; then
        trap 'rm -f "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
    fi
    echo "installing $*"
    { apt-get update && apt-get install --yes --no-install-recommends "$@"; } >/dev/null ||
        echo "$* cannot be installed here"
}

if [ -z "$binary" ]; then
    cargo build --release --package trainyard --manifest-path "$root/Cargo.toml"
    binary=${CARGO_TARGET_DIR:-$root/target}/release/trainyard
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    missing=()
    command -v runc >/dev/null || missing+=(runc)
    command -v containerd >/dev/null || missing+=(containerd)
    # In a shell of its own, whose end takes the policy away again, whatever happened.
    ((${#missing[@]} == 0)) || (install_idle "${missing[@]}")
fi
export PYTHONPATH="$here/.." PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/suite.py" --bin "$binary" "$@"
