# Generated files are those that the code gives.
set -euo pipefail
source .ci/env.sh

cargo xtask generate --check
