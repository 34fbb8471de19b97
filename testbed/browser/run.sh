#!/usr/bin/env bash
# The browser suite: a real Chromium tries every kind of model on its page.
set -euo pipefail

if [ "${1:-}" = -h ] || [ "${1:-}" = --help ]; then
    cat <<'HELP'
usage: testbed/browser/run.sh [BINARY] [--only WORDS] [--shots FOLDER]
       testbed/browser/run.sh --url ADDRESS [--only WORDS] [--shots FOLDER]

Trains a small model of each kind with BINARY (or $TRAINYARD_BIN, or one that it builds), serves it, and
draws, types, drops and clicks in Chromium as people do. Needs chromium and chromedriver, which it
installs where apt-get is there, and axe-core, which it fetches with npm; what lacks them is skipped.
--url: a server that runs already. --only: those checks whose names contain WORDS. --shots: a folder for
pictures of the pages. Closes with `N passed, N failed`.
HELP
    exit 0
fi

source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
take_binary "$@"
case " ${rest[*]} " in
    *" --url "*) named=() ;;
    *) build_binary; named=(--bin "$binary") ;;
esac
install_missing chromium=chromium chromedriver=chromium-driver
axe=$("$here/axe.sh")
exec python3 "$here/suite.py" "${named[@]}" ${axe:+--axe "$axe"} "${rest[@]}"
