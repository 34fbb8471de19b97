# Thousands of runs in which everything goes wrong, each from a seed. The program is the one that the tests have built:
# asked for alone, its dependencies would be compiled again with fewer features.
set -euo pipefail
source .ci/env.sh

log="$scratch/simulate.log"
program=$(cargo test --workspace --no-run --message-format=json | python3 -c '
import json, sys
built = [json.loads(line) for line in sys.stdin]
print(next(one["executable"] for one in built if one.get("executable") and one["target"]["name"] == "simulation"))')
"$program" --seeds 2000 --from 200 2>&1 | tee "$log"
closing=$(grep '^test result' "$log" | tail -n 1)
# shellcheck disable=SC2046  # the numbers are meant to be separate words
count $(sed -E 's/.* ([0-9]+) passed; ([0-9]+) failed.*/\1 \2/' <<<"$closing")
