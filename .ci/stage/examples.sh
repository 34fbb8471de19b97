# Every example that needs no network, with the release binary, as the README runs it.
set -euo pipefail
source .ci/env.sh

cargo build --release --package trainyard
trainyard="$CARGO_TARGET_DIR/release/trainyard"
mirror="$PWD/../shared/data/mnist"
faces="$PWD/../shared/data/orl_faces.tar.gz"
# Nothing is fetched, and nothing that lies in a user's cache is used.
export TRAINYARD_OFFLINE=1 TRAINYARD_CACHE="$scratch/cache" TRAINYARD_RUNS="$scratch/runs"

# settings FILE: what cuts a long example short and tells where its data is, a line each.
settings() {
  case $(basename "$1") in
    02-*) echo train.epochs=1 ;;
  esac
  if needs_mnist "$1"; then
    echo "data.mirror=$mirror"
  elif needs_faces "$1"; then
    echo "data.from=$faces"
  fi
}

# least FILE: the test accuracy to be reached.
least() {
  case $(basename "$1") in
    01-* | 02-*) echo 0.97 ;;
    06-*) echo 0.975 ;;
    10-*) echo 0.985 ;;
    03-* | 09-*) echo 0.85 ;; # 200 steps are their point, not their accuracy
    *) echo 0.9 ;;
  esac
}

needs_mnist() {
  grep -qE '(data|from): *mnist *(,.*|#.*)?$' "$1"
}

needs_faces() {
  grep -q 'from: .*orl_faces' "$1"
}

# absent FILE: the data that an example needs and that is not here, if any.
absent() {
  if needs_mnist "$1" && ! [ -d "$mirror" ]; then
    echo ../shared/data/mnist
  elif needs_faces "$1" && ! [ -f "$faces" ]; then
    echo ../shared/data/orl_faces.tar.gz
  fi
}

# The first example ends, on every machine, with the weights that the README shows.
shown_in_readme() {
  local weights
  weights=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["weights_sha256"])' "$1")
  grep -qF "$weights" README.md || { echo "README.md shows other weights than $weights"; return 1; }
}

# Faces are recognized better than by pixels and by the untrained network.
recognizes() {
  python3 -c '
import json, sys
faces = json.loads(sys.argv[1])["faces"]["test"]
trained, untrained, pixels = (faces[way]["top_1"] for way in ("trained", "untrained", "pixels"))
print(f"top-1 {trained:.4f}, untrained {untrained:.4f}, pixels {pixels:.4f}")
sys.exit(trained < max(untrained, pixels) + 0.05)
' "$1"
}

# Runs an example and prints its accuracy; fails when it is too low.
run_example() {
  local setting sets=() report
  while read -r setting; do
    sets+=(--set "$setting")
  done < <(settings "$1")
  "$trainyard" run "$1" --name example --fresh "${sets[@]}" || return
  report=$("$trainyard" report example --json) || return
  case $(basename "$1") in
    01-*) shown_in_readme "$report" || return ;;
  esac
  case $(basename "$1") in
    14-*) recognizes "$report" || return ;;
  esac
  python3 -c '
import json, sys
report, least = json.loads(sys.argv[1]), float(sys.argv[2])
accuracy, seconds = report["metrics"]["test"]["accuracy"], report["seconds"]
print(f"test accuracy {accuracy:.4f} after {seconds:.1f} s, expected at least {least}")
sys.exit(report["state"] != "done" or accuracy < least)
' "$report" "$(least "$1")"
}

for file in examples/*.yaml; do
  echo "--- $file"
  if [ -n "$(absent "$file")" ]; then
    echo "skipped: no $(absent "$file") beside the clone"
    count 0 0 1
  elif run_example "$file"; then
    count 1 0
  else
    echo "$file FAILED"
    count 0 1
  fi
done
