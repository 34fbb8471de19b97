#!/usr/bin/env bash
# The Kubernetes suite: a cluster of three nodes on this machine, and proofs of it and of our tool on it.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/kubernetes/run.sh [BINARY] [--keep] [--only WORDS]

Runs BINARY (or $TRAINYARD_BIN, or one that it builds) on a cluster of its own. Builds what the cluster
is made of where that is not done yet (15 to 20 minutes), starts a cluster, proves it, and takes it down
again whatever happens. A cluster that is up is taken down first.
Needs root, Go and control groups; without them all checks are skipped.

  --keep         use the cluster that is up, if there is one, and leave it up
  --only WORDS   only checks whose names contain WORDS

Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
source "$here/lib/place.sh"
take_binary "$@"
set -- "${rest[@]}"
keep=no
if [ "${1:-}" = --keep ]; then
    keep=yes
    shift
fi

# Why there can be no cluster here; nothing where there can.
why_not() {
    if [ "$(id -u)" != 0 ]; then
        echo "namespaces and control groups need root"
    elif ! command -v go >/dev/null; then
        echo "Go, of which Kubernetes is built, is not here"
    elif ! { [ -d /sys/fs/cgroup/memory ] && [ -d /sys/fs/cgroup/cpu ]; } &&
        ! grep -qsw memory /sys/fs/cgroup/cgroup.controllers; then
        echo "control groups for memory and CPU are not mounted at /sys/fs/cgroup"
    elif ! [ -w /sys/fs/cgroup ] || ! unshare --net --mount --pid --fork true 2>/dev/null; then
        echo "no namespaces or control groups can be made here, as in most containers"
    fi
}

# Whoever ends us may send the same signal to all that we started.
finish() {
    trap '' INT TERM HUP
    "$here/cluster" down
}

reason=$(why_not)
if [ -n "$reason" ]; then
    exec python3 "$here/suite.py" --skip "$reason" "$@"
fi

# Another suite would take our cluster down, and we theirs.
mkdir -p "$place"
exec 9>>"$place/suite.lock"
flock -w 1800 9 || fail "another suite did not end within half an hour"
"$here/setup.sh"
build_binary
if [ "$keep" = no ]; then
    trap finish EXIT
    "$here/cluster" down
fi
"$here/cluster" up
python3 "$here/suite.py" --bin "$binary" "$@"
