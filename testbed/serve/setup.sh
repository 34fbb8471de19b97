#!/usr/bin/env bash
# Makes a virtual environment with schemathesis, outside the repository, and prints where the program is.
set -euo pipefail

say() { echo "testbed/serve: $*" >&2; }
fail() { say "$*"; exit 1; }

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=${TRAINYARD_TESTBED:-$HOME/.cache/trainyard}
venv=$root/venv-serve
python=${PYTHON:-python3.11}
pins=$(sha256sum <"$here/requirements.txt" | cut -d' ' -f1)

command -v "$python" >/dev/null || fail "$python is not here; install it, or name another in PYTHON"
mkdir -p "$root"
exec 9>"$venv.lock"
flock -w 600 9 || fail "another set-up of $venv did not end within ten minutes"

# An environment of other pins, or one whose Python is gone, is made anew.
if [ "$(cat "$venv/stamp" 2>/dev/null)" != "$pins" ] || ! "$venv/bin/python" -c ''; then
    say "making $venv with $("$python" --version)"
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$python cannot make virtual environments; install its venv module"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements.txt" ||
        fail "pip could not install requirements.txt; the lines above say why. Run this script again to retry"
    "$venv/bin/python" -m pip check >&2 || fail "the packages of requirements.txt do not fit together"
    echo "$pins" >"$venv/stamp"
fi
echo "$venv/bin/schemathesis"
