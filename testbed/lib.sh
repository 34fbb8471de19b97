# What the suites have in common. Sourced by the run.sh of each.

here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$here/../.." && pwd)
export PYTHONPATH="$root/testbed" PYTHONDONTWRITEBYTECODE=1

# take_binary WORD...: the first word is the binary unless it is a flag; without one it is $TRAINYARD_BIN.
# Sets `binary`, and `rest` to the other words.
take_binary() {
    binary=${TRAINYARD_BIN:-}
    case "${1:-}" in
        "" | --*) rest=("$@") ;;
        *) binary=$1 rest=("${@:2}") ;;
    esac
}

# build_binary: builds one where none was named.
build_binary() {
    if [ -z "$binary" ]; then
        cargo build --release --package trainyard --manifest-path "$root/Cargo.toml"
        binary=${CARGO_TARGET_DIR:-$root/target}/release/trainyard
    fi
    binary=$(realpath "$binary")
}

# install_missing COMMAND=PACKAGE...: installs what is missing, where that can be done. Debian starts the
# service of a package that has one, unless a file says not to; it is there for that long only.
install_missing() {
    local each missing=() policy=/usr/sbin/policy-rc.d
    for each in "$@"; do
        command -v "${each%%=*}" >/dev/null || missing+=("${each#*=}")
    done
    if ((${#missing[@]} == 0)) || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        return
    fi
    echo "installing ${missing[*]}"
    (
        if ! [ -e "$policy" ]; then
            trap 'rm -f "$policy"' EXIT
            printf '#!/bin/sh\nexit 101\n' >"$policy"
            chmod +x "$policy"
        fi
        { apt-get update && apt-get install --yes --no-install-recommends "${missing[@]}"; } >/dev/null
    ) || echo "${missing[*]} cannot be installed here"
}
