# The README's test command, and a list of what it skipped.
set -euo pipefail
source .ci/env.sh

log="$scratch/test.log"
code=0
# --show-output, because a test that skips itself says so on standard error and passes.
cargo test --workspace --no-fail-fast -- --show-output 2>&1 | tee "$log" || code=$?

skips=$(grep -iE '^(skip|test .* \.\.\. ignored)' "$log" | sort -u || true)
echo
if [ -n "$skips" ]; then
  printf 'skipped:\n%s\n' "$skips"
else
  echo "nothing was skipped"
fi
count $(awk '/^test result:/ { p += $4; f += $6; s += $8 } END { print p + 0, f + 0, s + 0 }' "$log")
exit "$code"
