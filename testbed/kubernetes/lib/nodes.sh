# Nodes, seen from outside. A node is the process tree of node/init.sh in namespaces of its own; to
# kill its first process is to pull the plug.

start_node() {
    local n=$1 folder
    is_running "node$n" && fail "node$n is running"
    folder=$(node_folder "$n")
    mkdir -p "$folder"
    rm -f "$folder/is-up"
    make_cgroups "$n"
    plug_in "$n"
    # What `ip netns exec` makes of /sys lacks control groups, hence nsenter.
    start "node$n" nsenter --net="/run/netns/$(node_space "$n")" \
        unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc bash "$here/node/init.sh" "$n"
}

# kill_nodes N...: with everything on them.
kill_nodes() {
    local n first
    for n in "$@"; do
        [ -e "$pids/node$n" ] || continue
        first=$(first_process "$n")
        stop "node$n"
        # It ends after the last of its descendants.
        [ -z "$first" ] || until_true 60 "node$n is without processes" is_gone "$first"
        unplug "$n"
        # A machine boots without any. kubelet would spend seconds on each that it finds and cannot place.
        remove_cgroups "$n"
    done
}

# The node's process 1, as the machine counts.
first_process() { pgrep -P "$(cat "$pids/node$1")" || true; }

# on_node N COMMAND...: runs a command on a node.
on_node() {
    local first
    is_running "node$1" || fail "node$1 is not running"
    first=$(first_process "$1")
    shift
    nsenter --target "$first" --mount --uts --ipc --net --pid "$@"
}

node_is_up() { [ -e "$(node_folder "$1")/is-up" ]; }
knows_services() { on_node "$1" iptables-save --table nat | grep -qF -- "-d $api_in_cluster/32"; }
node_is_ready() { kube wait --for=condition=Ready "node/node$1" --timeout=1s; }

wait_for_node() {
    until_true 120 "node$1 has its programs running" node_is_up "$1"
    until_true 120 "node$1 is Ready" node_is_ready "$1"
    # Ready says nothing of kube-proxy. A pod that calls the API server before, waits half a minute for an answer.
    until_true 120 "node$1 knows where services are" knows_services "$1"
}

stop_kubelet() { on_node "$1" bash "$here/node/kubelet.sh" stop "$1"; }
start_kubelet() { on_node "$1" bash "$here/node/kubelet.sh" start "$1"; }
kubelet_runs() { on_node "$1" bash "$here/node/kubelet.sh" status "$1"; }

# load_image TAR: for every node, and for those that come up later.
load_image() {
    local tar=$1 n
    [ -e "$tar" ] || fail "there is no image at $tar"
    cp "$tar" "$images/new"
    mv "$images/new" "$images/$(basename "$tar")"
    for n in "${nodes[@]}"; do
        ! is_running "node$n" || on_node "$n" bash "$here/node/images.sh" "$n"
    done
}
