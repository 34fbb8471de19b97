# Every example that needs no network, with the release binary, as the README runs it.
set -euo pipefail
source .ci/env.sh

cargo build --release --package trainyard
trainyard="$CARGO_TARGET_DIR/release/trainyard"
shared="$PWD/../shared/data"
# Nothing is fetched, and nothing that lies in a user's cache is used.
export TRAINYARD_OFFLINE=1 TRAINYARD_CACHE="$scratch/cache" TRAINYARD_RUNS="$scratch/runs"

# needs FILE: the data that an example needs beside what is built in, as it lies in `shared`.
needs() {
  if grep -qE '(data|from): *mnist *(,.*|#.*)?$' "$1"; then
    echo mnist
  elif grep -qE '(data|from): *imdb *(,.*|#.*)?$' "$1"; then
    echo imdb.tar.xz
  elif grep -q 'from: .*pets' "$1"; then
    echo cats_dogs.tar
  elif grep -q 'from: .*orl_faces' "$1"; then
    echo orl_faces.tar.gz
  fi
}

# settings FILE: where its data is, and what cuts a long example short, a line each.
settings() {
  local data
  data=$shared/$(needs "$1")
  case $(needs "$1") in
    mnist) echo "data.mirror=$data" ;;
    imdb.tar.xz) printf '%s\n' "data.from=$data" "data.vocabulary=$shared/imdb_word_index.json" train.epochs=1 ;;
    cats_dogs.tar) tar xf "$data" -C "$scratch" cats_dogs/train cats_dogs/validation && echo "data.from=$scratch/cats_dogs" ;;
    orl_faces.tar.gz) echo "data.from=$data" ;;
  esac
  case $(basename "$1") in
    02-*) echo train.epochs=1 ;;
    12-* | 14-*) echo data.length=50 ;;
    13-*) echo data.length=10 ;;
  esac
}

# least FILE: the accuracy to be reached.
least() {
  case $(basename "$1") in
    01-* | 02-*) echo 0.97 ;;
    06-*) echo 0.975 ;;
    10-*) echo 0.985 ;;
    03-* | 09-*) echo 0.85 ;; # 200 steps are their point, not their accuracy
    12-*) echo 0.7 ;;         # the end of each review alone
    13-* | 14-*) echo 0.55 ;;
    15-*) echo 0.6 ;;
    *) echo 0.9 ;;
  esac
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
  "$trainyard" run "$1" --name example --fresh --no-serve "${sets[@]}" || return
  report=$("$trainyard" report example --json) || return
  case $(basename "$1") in
    01-*) shown_in_readme "$report" || return ;;
  esac
  case $(basename "$1") in
    16-*) recognizes "$report" || return ;;
  esac
  python3 -c '
import json, sys
report, least = json.loads(sys.argv[1]), float(sys.argv[2])
metrics, seconds = report["metrics"], report["seconds"]
split = "test" if metrics.get("test") else "validation"
accuracy = metrics[split]["accuracy"]
print(f"{split} accuracy {accuracy:.4f} after {seconds:.1f} s, expected at least {least}")
sys.exit(report["state"] != "done" or accuracy < least)
' "$report" "$(least "$1")"
}

for file in examples/*.yaml; do
  echo "--- $file"
  if ! [ -e "$shared/$(needs "$file")" ]; then
    echo "skipped: no ../shared/data/$(needs "$file") beside the clone"
    count 0 0 1
  elif run_example "$file"; then
    count 1 0
  else
    broke "$file"
    echo "$file FAILED"
    count 0 1
  fi
done
