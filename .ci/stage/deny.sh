# Licences, banned crates and sources of everything we build upon.
set -euo pipefail
source .ci/env.sh

tool cargo-deny 0.20.2
cargo deny --all-features check --hide-inclusion-graph licenses bans sources
