#!/usr/bin/env bash
# Starts and stops kubelet; runs on a node. Pods live on without it, unobserved.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/place.sh"
what=$1 n=$2
pid_file=/run/node/kubelet.pid

runs() { [ -e "$pid_file" ] && [ "$(cat "/proc/$(cat "$pid_file")/comm" 2>/dev/null)" = kubelet ]; }
runs_not() { ! runs; }

case $what in
    start)
        ! runs || fail "kubelet runs on node$n"
        setsid "$bin/kubelet" --config=/run/node/kubelet.yaml --kubeconfig="$keys/node$n.kubeconfig" \
            --hostname-override="node$n" --node-ip="$(node_address "$n")" --node-labels="disktype=worker-$n" \
            </dev/null >>"$log/node$n-kubelet.log" 2>&1 &
        echo $! >"$pid_file"
        ;;
    stop)
        runs || fail "kubelet does not run on node$n"
        kill -KILL "$(cat "$pid_file")"
        until_true 60 "kubelet on node$n ends" runs_not
        rm "$pid_file"
        ;;
    status) runs ;;
    *) fail "usage: node/kubelet.sh start|stop|status N" ;;
esac
