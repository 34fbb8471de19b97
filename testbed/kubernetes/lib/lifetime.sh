# How a cluster begins and ends, and what it leaves when it crashed in between.

lock() {
    mkdir -p "$place"
    exec 8>"$place/cluster.lock"
    flock -w 300 8 || fail "another \`cluster up\` or \`down\` did not end within five minutes"
}

need_root() { [ "$(id -u)" = 0 ] || fail "namespaces and control groups need root"; }

need_cluster() {
    need_root
    [ -e "$run/complete" ] || fail "no cluster is up; try \`testbed/kubernetes/cluster up\`"
}

need_programs() {
    local program
    for program in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl coredns; do
        [ -x "$bin/$program" ] || fail "$program is not in $bin; run testbed/kubernetes/setup.sh"
    done
    # A node has folders of its own in place of these.
    case $run in
        /run/* | /var/lib/* | /var/log/*)
            fail "$run cannot be seen from nodes; set TRAINYARD_TESTBED to another folder"
            ;;
    esac
}

up() {
    need_root
    need_programs
    lock
    refuse_beside_another
    if [ -e "$run/complete" ] && is_whole; then
        say "is up already"
        return
    fi
    remove_leftovers
    trap give_up EXIT
    bring_up
    trap - EXIT
    say "up after $SECONDS s; \`eval \"\$(testbed/kubernetes/cluster env)\"\` lets you use it"
}

give_up() {
    trap '' INT TERM HUP
    say "did not come up; its logs are in $log"
    take_down
}

bring_up() {
    local n
    rm -rf "$log"
    mkdir -p "$run" "$log"
    make_identities
    make_images
    note_mounts
    make_switch
    start_etcd
    start_apiserver
    for n in "${nodes[@]}"; do
        start_node "$n"
    done
    wait_for_api
    start_controllers
    start_scheduler
    fill_cluster
    for n in "${nodes[@]}"; do
        wait_for_node "$n"
    done
    start_dns
    wait_for_contents
    touch "$run/complete"
}

# The first namespace of a machine brings a mount along that does not go with the last one.
note_mounts() { mountpoint -q /run/netns || touch "$place/first-namespace"; }

remove_mounts() {
    [ -e "$place/first-namespace" ] && [ -z "$(ip netns list)" ] || return 0
    umount /run/netns && rmdir /run/netns || true
    rm "$place/first-namespace"
}

# Those of nodes may have been killed on purpose.
is_whole() {
    local name
    for name in "${control_plane[@]}"; do
        is_running "$name" || return 1
    done
}

refuse_beside_another() {
    local pid folder
    while read -r pid folder; do
        [ "$folder" = "$run" ] || fail "another cluster is up, in $folder (process $pid); take that one down first"
    done < <(marked_processes)
}

leftovers() {
    local count
    count=$(marked_processes | grep -c " $run\$" || true)
    [ "$count" = 0 ] || echo "$count processes"
    [ -z "$(our_spaces)" ] || echo "namespaces $(our_spaces | tr '\n' ' ')"
    [ -z "$(our_cgroups)" ] || echo "control groups of $(our_cgroups | xargs -n1 basename | sort -u | tr '\n' ' ')"
    [ ! -e "$run" ] || echo "the folder $run"
}

remove_leftovers() {
    local found
    found=$(leftovers)
    [ -n "$found" ] || return 0
    say "an earlier cluster was not taken down; removing"
    sed 's/^/  /' <<<"$found" >&2
    take_down
}

down() {
    need_root
    lock
    refuse_beside_another
    take_down
    local left
    left=$(leftovers)
    [ -z "$left" ] || fail "could not remove: $left"
    say "down after $SECONDS s"
}

take_down() {
    local pid folder
    rm -f "$run/complete"
    kill_nodes "${nodes[@]}"
    stop kube-scheduler kube-controller-manager kube-apiserver etcd
    # Those whose pid file a crash has kept from being written.
    while read -r pid folder; do
        [ "$folder" != "$run" ] || kill_ours "$pid"
    done < <(marked_processes)
    remove_network
    remove_mounts
    remove_cgroups
    rm -rf --one-file-system "$run"
}

node_status() {
    is_running "node$1" || { echo killed; return; }
    local kubelet=running cable=whole
    kubelet_runs "$1" || kubelet=stopped
    ! is_cut "$1" || cable=cut
    echo "running, kubelet $kubelet, cable $cable"
}

status() {
    need_cluster
    local name n
    for name in "${control_plane[@]}"; do
        echo "$name $(is_running "$name" && echo running || echo stopped)"
    done
    for n in "${nodes[@]}"; do
        echo "node$n $(node_status "$n")"
    done
    is_running kube-apiserver || return 0
    kube get nodes,pv
}
