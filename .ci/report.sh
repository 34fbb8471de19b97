# Runs stages, remembers how each went, and prints the closing table. Sourced by .ci/run.

rows=()
total_passed=0
total_failed=0
total_skipped=0

# Each stage is a script of its own, so that `set -e` holds inside it.
run_stage() {
  local stage=$1 start=$SECONDS code=0 outcome=ok passed=0 failed=0 skipped=0
  printf '\n=== %s ===\n' "$stage"
  : >"$scratch/counts"
  bash ".ci/stage/$stage.sh" || code=$?
  read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$scratch/counts")
  if ((code != 0)); then
    outcome=FAILED
    ((failed > 0)) || failed=1
  elif ((failed > 0)); then
    outcome=FAILED
  fi
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  total_skipped=$((total_skipped + skipped))
  rows+=("$(printf '%-10s %-7s %7d %8d %8d %8d' "$stage" "$outcome" $((SECONDS - start)) "$passed" "$failed" "$skipped")")
  printf -- '--- %s: %s after %d s\n' "$stage" "$outcome" $((SECONDS - start))
}

print_report() {
  printf '\n%-10s %-7s %7s %8s %8s %8s\n' stage outcome seconds passed failed skipped
  printf '%s\n' "${rows[@]}"
  printf '%-10s %-7s %7d\n\n' all '' "$SECONDS"
  if [ -s "$scratch/broken" ]; then
    cut -c1-600 "$scratch/broken"
    echo
  fi
  echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
  ((total_failed == 0))
}
