# Every parser of foreign files, fuzzed for a minute, two at a time. What a run learns is kept in the
# cache, so that the next one starts where it stopped.
set -euo pipefail
source .ci/env.sh

seconds=${FUZZ_SECONDS:-60}
targets=$(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)
if ! cargo +nightly --version >/dev/null 2>&1; then
  echo "skipped: no nightly toolchain here (rustup toolchain install nightly)"
  count 0 0 "$(wc -w <<<"$targets")"
  exit 0
fi

tool cargo-fuzz 0.13.2
# The versions that the project ships are the ones to fuzz.
cp Cargo.lock fuzz/Cargo.lock
cargo +nightly fuzz build --target-dir "$cache/fuzz-target"
binaries="$cache/fuzz-target/$(rustc -vV | sed -n 's/^host: //p')/release"

# The limits are part of the test: a lying header must not make a parser reserve a gigabyte. What takes ten seconds on
# a busy machine is not a fault, what takes a minute hangs.
fuzz_one() {
  local target=$1 corpus="$cache/fuzz-corpus/$1" log="$scratch/fuzz-$1.log"
  mkdir -p "$corpus" "$scratch/artifacts"
  "$binaries/$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -malloc_limit_mb=512 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$scratch/artifacts/$target-" \
    "$corpus" "fuzz/seeds/$target" >"$log" 2>&1
}

# Prints one line for a target, and the input that broke it where one did.
tell() {
  local target=$1 code=$2 log="$scratch/fuzz-$1.log" artifact
  if ((code == 0)); then
    printf '%-12s %12s executions, %s seconds\n' "$target" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$seconds"
    count 1 0
    return
  fi
  count 0 1
  broke "fuzz $target: $(grep -m 1 -E 'panicked at|^==[0-9]+== ?ERROR|ERROR: ' "$log" || true)"
  tail -n 40 "$log"
  for artifact in "$scratch/artifacts/$target-"*; do
    [ -f "$artifact" ] || continue
    echo "$target is broken by this input (base64):"
    base64 -w 100 "$artifact" | head -n 60
  done
}

running=() pids=()
finish_oldest() {
  local code=0
  wait "${pids[0]}" || code=$?
  tell "${running[0]}" "$code"
  running=("${running[@]:1}") pids=("${pids[@]:1}")
}
for target in $targets; do
  if ((${#pids[@]} == 2)); then
    finish_oldest
  fi
  fuzz_one "$target" &
  running+=("$target") pids+=($!)
done
while ((${#pids[@]} > 0)); do
  finish_oldest
done
