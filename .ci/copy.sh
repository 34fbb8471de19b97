# Cargo goes by the times of files, and those of a fresh clone are all new. So CI works in a copy of the clone that
# stays in the cache and in which only what differs is written: what did not change is not compiled again.
# Sourced by .ci/run.

# Goes to the copy. Stays in the clone where there can be none, or while another run is in it.
enter_copy() {
  local clone=$PWD place="$cache/clone"
  mkdir -p "$place/trainyard"
  exec 8>"$place/lock"
  if ! flock --nonblock 8; then
    echo "$place is in use; working in $clone"
  elif ! copy_clone "$place"; then
    echo "no copy can be made of $clone; working there"
  else
    cd "$place/trainyard"
    echo "working in $PWD, a copy of $clone"
  fi
}

# copy_clone PLACE: makes PLACE/trainyard equal to the clone, with what is not committed yet; what lies beside the clone
# lies beside it.
copy_clone() {
  local tree clone_index=$scratch/index
  cp "$(git rev-parse --git-path index)" "$clone_index" &&
    GIT_INDEX_FILE="$clone_index" git add --all &&
    tree=$(GIT_INDEX_FILE="$clone_index" git write-tree) &&
    GIT_INDEX_FILE="$1/index" git --work-tree="$1/trainyard" read-tree --reset -u "$tree" &&
    echo "gitdir: $(git rev-parse --absolute-git-dir)" >"$1/trainyard/.git" &&
    ln -sfn "$(dirname "$PWD")/shared" "$1/shared"
}
