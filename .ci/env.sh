# Where CI builds, and the few functions that stages share. Sourced in the root of the project.

# Outside the clone, so that the next clone need not compile the world again.
cache="${XDG_CACHE_HOME:-$HOME/.cache}/trainyard"
export CARGO_TARGET_DIR="$cache/ci-target"
export CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
export PATH="$cache/tools/bin:$PATH" TRAINYARD_TESTBED="$cache"

if [ -z "${TRAINYARD_CI_SCRATCH:-}" ]; then
  TRAINYARD_CI_SCRATCH=$(mktemp -d)
  export TRAINYARD_CI_SCRATCH
  trap 'rm -rf "$TRAINYARD_CI_SCRATCH"' EXIT
fi
scratch=$TRAINYARD_CI_SCRATCH

# count PASSED FAILED [SKIPPED]: what a stage tells about its tests.
count() {
  printf '%d %d %d\n' "$1" "$2" "${3:-0}" >>"$scratch/counts"
}

# broke WHAT: something that the closing report names once more, for logs are long and may be cut.
broke() {
  printf '%s\n' "$1" >>"$scratch/broken"
}

# run_suite NAME COMMAND...: runs a suite of tests that closes with `N passed, N failed`, and maybe
# `, N skipped`. Without such a line it has failed.
run_suite() {
  local log="$scratch/$1.log" suite=$1 code=0 closing line
  shift
  "$@" 2>&1 | tee "$log" || code=$?
  # `failed  what: why` of the testbed, `test what ... FAILED` of cargo.
  while read -r line; do
    broke "$suite: $line"
  done < <(grep -E '^(failed  |test .* FAILED$)' "$log")
  closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || return 1
  # shellcheck disable=SC2046  # the numbers are meant to be separate words
  count $(tr -cs '0-9' ' ' <<<"$closing")
  return "$code"
}

# tool NAME VERSION: a cargo tool from the registry, built once. Unoptimised: the tools wait for
# files and for programs, and compile three times faster so.
tool() {
  if ! [ -x "$cache/tools/bin/$1" ] || ! "$cache/tools/bin/$1" --version | grep -qF "$2"; then
    echo "installing $1 $2"
    cargo install --quiet --locked --debug --root "$cache/tools" --target-dir "$scratch/tools" "$1@$2"
  fi
}

# What was compiled of older commits stays in these folders.
keep_cache_small() {
  local limit_mb=12000 folder used_mb
  for folder in "$CARGO_TARGET_DIR" "$cache/fuzz-target"; do
    mkdir -p "$folder"
    used_mb=$(du -sm "$folder" | cut -f1)
    if ((used_mb > limit_mb)); then
      echo "$folder holds $used_mb MB; starting afresh"
      rm -rf "$folder"
    fi
  done
}
