# The rules that no compiler checks: xtask/src/tidy has one file for each.
set -euo pipefail
source .ci/env.sh

cargo xtask tidy
