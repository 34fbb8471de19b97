# Our code beside the real thing.
set -euo pipefail
source .ci/env.sh

testbed/run
