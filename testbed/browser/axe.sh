#!/usr/bin/env bash
# Fetches axe-core with npm, once, outside the repository, and prints where it is.
set -euo pipefail

version=4.14.0
sha512=9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==
folder=${TRAINYARD_TESTBED:-$HOME/.cache/trainyard}/axe-core-$version

if ! [ -f "$folder/axe.min.js" ]; then
    command -v npm >/dev/null || { echo "testbed/browser: npm is not here, so axe-core is not fetched" >&2; exit 0; }
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    npm pack --silent --pack-destination "$scratch" "axe-core@$version" >/dev/null 2>"$scratch/problem" ||
        { cat "$scratch/problem" >&2; echo "testbed/browser: npm could not fetch axe-core" >&2; exit 0; }
    archive=$scratch/axe-core-$version.tgz
    [ "$(openssl dgst -sha512 -binary "$archive" | base64 -w 0)" = "$sha512" ] ||
        { echo "testbed/browser: axe-core $version is not what it was when it was pinned" >&2; exit 1; }
    tar -xzf "$archive" -C "$scratch"
    mkdir -p "$(dirname "$folder")"
    # In one step, so that a half-fetched one is never taken for whole.
    mv -T "$scratch/package" "$folder" 2>/dev/null || [ -f "$folder/axe.min.js" ]
fi
echo "$folder/axe.min.js"
