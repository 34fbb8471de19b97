# Thousands of runs in which everything goes wrong, each from a seed. Asked of the whole workspace, as the tests were: of
# one package alone, dependencies would be compiled again with fewer features.
set -euo pipefail
source .ci/env.sh

log="$scratch/simulate.log"
cargo test --workspace --test simulation -- --seeds 2000 --from 200 2>&1 | tee "$log"
closing=$(grep '^test result' "$log" | tail -n 1)
# shellcheck disable=SC2046  # the numbers are meant to be separate words
count $(sed -E 's/.* ([0-9]+) passed; ([0-9]+) failed.*/\1 \2/' <<<"$closing")
