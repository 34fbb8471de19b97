#!/usr/bin/env bash
# Makes a virtual environment with real Keras, outside the repository, and prints its Python.
set -euo pipefail

usage() {
    cat <<'HELP'
usage: testbed/keras/setup.sh [--rivals]

Makes (or brings up to date) a Python virtual environment with the pinned packages of
requirements.txt and requirements-keras2.txt and prints the path of its Python on standard output.
Does nothing when the environment is already as the pins say.

  --rivals   also install requirements-rivals.txt (PyTorch, JAX: several GB) and
             requirements-serving.txt (web servers), for benches/

environment:
  TRAINYARD_TESTBED  where it is kept; default $HOME/.cache/trainyard
  PYTHON             the Python to start from; default python3.11
HELP
}

say() { echo "testbed/keras: $*" >&2; }
fail() { say "$*"; exit 1; }

rivals=no
case "${1:-}" in
    "") ;;
    --rivals) rivals=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${TRAINYARD_TESTBED:-$HOME/.cache/trainyard}
venv=$root/venv-keras
python=${PYTHON:-python3.11}

hash_of() { sha256sum <"$here/$1" | cut -d' ' -f1; }

# Whether the stamp says that this very requirements file was installed.
stamped() { [ "$(cat "$venv/$1.stamp" 2>/dev/null)" = "$(hash_of "$2")" ]; }

# tf-keras asks for the package `tensorflow`, whose place tensorflow-cpu takes.
fit_together() {
    local problems
    problems=$("$venv/bin/python" -m pip check | grep -v -e '^No broken' -e '^tf-keras .* requires tensorflow,') || return 0
    echo "$problems" >&2
    return 1
}

install() {
    stamped "$1" "$2" && return
    say "installing $2 into $venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check ${3:-} -r "$here/$2" ||
        fail "pip could not install $2; the lines above say why. Run this script again to retry"
    fit_together || fail "the packages of $2 do not fit together"
    hash_of "$2" >"$venv/$1.stamp"
}

command -v "$python" >/dev/null || fail "$python is not here; install it, or name another in PYTHON"
mkdir -p "$root"
exec 9>"$venv.lock"
flock -w 1200 9 || fail "another set-up of $venv did not end within 20 minutes"

# An environment of other pins, or one whose Python is gone, is made anew: what is left over in it
# would not be what was pinned.
if ! stamped keras requirements.txt || ! "$venv/bin/python" -c ''; then
    say "making $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$python cannot make virtual environments; install its venv module"
fi
install keras requirements.txt
if [ "$rivals" = yes ]; then
    install rivals requirements-rivals.txt
    install serving requirements-serving.txt
fi
install keras2 requirements-keras2.txt --no-deps
echo "$venv/bin/python"
