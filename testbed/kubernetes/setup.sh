#!/usr/bin/env bash
# Brings what the cluster is made of: Debian packages, and programs built from Go modules.
set -euo pipefail

usage() {
    cat <<'HELP'
usage: testbed/kubernetes/setup.sh [--keep-go-cache]

Installs the Debian packages that are missing and builds Kubernetes, Helm and CoreDNS at the versions
of modules/*/go.mod, outside the clone. Does nothing when all is as they say; from nothing it takes
15 to 20 minutes on two cores. Interrupted, it goes on where it was.

  --keep-go-cache   keep Go's build cache (3 GB); by default only programs and module sources stay

environment:
  TRAINYARD_TESTBED  where things are kept; default $HOME/.cache/trainyard
HELP
}

source "$(dirname "${BASH_SOURCE[0]}")/lib/place.sh"
say() { echo "testbed/kubernetes: $*" >&2; }

keep_go_cache=no
case "${1:-}" in
    "") ;;
    --keep-go-cache) keep_go_cache=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

# It is all that some images hold, so it must do without a loader.
static_busybox() { command -v busybox >/dev/null && ! head -c 4096 "$(command -v busybox)" | grep -q /ld-linux; }

# Which packages are not here, told by what the cluster uses of them.
missing_packages() {
    local needed package
    static_busybox || echo busybox-static
    while read -r needed package; do
        command -v "$needed" >/dev/null || echo "$package"
    done <<'NEEDED'
etcd etcd-server
containerd containerd
ctr containerd
runc runc
/usr/lib/cni/bridge containernetworking-plugins
iptables iptables
ip iproute2
openssl openssl
NEEDED
}

# Debian starts what it installs. The cluster starts its own, so we forbid it until this shell exits,
# unless there is a rule about it already, which is somebody else's.
forbid_services() {
    local policy=/usr/sbin/policy-rc.d
    [ ! -e "$policy" ] || return 0
    trap "rm -f $policy" EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
}

install_packages() {
    local packages
    mapfile -t packages < <(missing_packages | sort -u)
    ((${#packages[@]} > 0)) || return 0
    command -v apt-get >/dev/null || fail "not here: ${packages[*]} (names of Debian's packages); install them"
    [ "$(id -u)" = 0 ] || fail "not here: ${packages[*]}; install them, or run this as root"
    say "installing ${packages[*]}"
    (
        forbid_services
        export DEBIAN_FRONTEND=noninteractive
        apt-get update && apt-get install --yes --no-install-recommends "${packages[@]}"
    ) >"$place/apt.log" 2>&1 || fail "apt-get could not install ${packages[*]}; $place/apt.log says why"
    [ -z "$(missing_packages)" ] || fail "not here although installed: $(missing_packages | sort -u | xargs)"
}

hash_of() { cat "$here/build.sh" "$here/modules/$1"/* | sha256sum | cut -d' ' -f1; }

# A build goes into a folder of its own first, so that programs are always whole and may be in use.
build() {
    local name=$1 began=$SECONDS new=$place/new-$1
    [ "$(cat "$place/$name.stamp" 2>/dev/null)" != "$(hash_of "$name")" ] || return 0
    command -v go >/dev/null || fail "go is not here; install Go 1.26 or later"
    say "building $name"
    export GOMODCACHE=$place/go-modules GOCACHE=$place/go-build
    "$here/build.sh" "$name" "$new" >"$place/build-$name.log" 2>&1 ||
        fail "$name could not be built; $place/build-$name.log says why. Run this script again to go on"
    mkdir -p "$bin"
    mv -f "$new"/* "$bin/"
    rmdir "$new"
    hash_of "$name" >"$place/$name.stamp"
    say "built $name in $((SECONDS - began)) s"
}

mkdir -p "$place"
exec 9>"$place/setup.lock"
flock -w 2400 9 || fail "another set-up of $place did not end within 40 minutes"
install_packages
for name in coredns kubernetes helm; do
    build "$name"
done
[ "$keep_go_cache" = yes ] || rm -rf "$place/go-build"
