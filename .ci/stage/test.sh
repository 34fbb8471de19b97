# The README's test command.
set -euo pipefail
source .ci/env.sh

run_suite test cargo xtask test
