# Cargo goes by the times of files, and those of a fresh clone are all new. So CI works in a copy of the clone that
# stays in the cache and in which only what differs is written: what did not change is not compiled again.
# Sourced by .ci/run.

# Goes to the copy, made equal to the clone with what is not committed yet. Stays in the clone where git does not know
# it, or while another run is in the copy.
enter_mirror() {
  local clone=$PWD place="$cache/clone" tree
  git rev-parse --git-dir >/dev/null 2>&1 || return 0
  mkdir -p "$place/trainyard"
  exec 8>"$place/lock"
  if ! flock --nonblock 8; then
    echo "$place is in use; working in $clone"
    return
  fi
  cp "$(git rev-parse --git-path index)" "$scratch/index"
  tree=$(GIT_INDEX_FILE="$scratch/index" git add --all && GIT_INDEX_FILE="$scratch/index" git write-tree)
  GIT_INDEX_FILE="$place/index" git --work-tree="$place/trainyard" read-tree --reset -u "$tree"
  echo "gitdir: $(git rev-parse --absolute-git-dir)" >"$place/trainyard/.git"
  ln -sfn "$(dirname "$clone")/shared" "$place/shared"
  cd "$place/trainyard"
  echo "working in $PWD, a copy of $clone"
}
