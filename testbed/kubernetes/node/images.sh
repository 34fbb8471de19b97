#!/usr/bin/env bash
# Gives containerd those images of the cluster that it has not; runs on a node.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/place.sh"
n=$1
known=/var/lib/known-images
mkdir -p "$known"

for tar in "$images"/*.tar; do
    file=$(basename "$tar")
    [ ! "$known/$file" -nt "$tar" ] || continue
    ctr --address /run/containerd/containerd.sock --namespace k8s.io images import "$tar" \
        >>"$log/node$n-images.log" 2>&1 || fail "node$n does not take $file; $log/node$n-images.log says why"
    touch "$known/$file"
done
