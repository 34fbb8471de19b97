# A control group for each node, in which its kubelet puts the pods. Version 1 has a tree for each
# controller, version 2 has one tree.

cgroup_trees() {
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        echo /sys/fs/cgroup
    else
        local tree
        for tree in /sys/fs/cgroup/*; do
            [ ! -e "$tree/cgroup.procs" ] || [ -L "$tree" ] || echo "$tree"
        done
    fi
}

make_cgroups() {
    local tree group setting
    for tree in $(cgroup_trees); do
        group=$tree/$prefix-node$1
        mkdir -p "$group"
        # In version 1 a new group may use no processor at all until it is told which.
        for setting in cpuset.cpus cpuset.mems; do
            [ ! -e "$tree/$setting" ] || [ -e "$tree/cgroup.controllers" ] || cat "$tree/$setting" >"$group/$setting"
        done
    done
}

# our_cgroups [N]: those of one node, or of all.
our_cgroups() {
    local tree
    for tree in $(cgroup_trees); do
        find "$tree" -maxdepth 1 -type d -name "$prefix-node${1:-*}"
    done
}

# remove_cgroups [N]: they are empty once the processes of a node are gone, which the kernel may take
# a moment to see.
remove_cgroups() { until_true 60 "control groups are empty" cgroups_removed "$@"; }

cgroups_removed() {
    local group
    for group in $(our_cgroups "$@"); do
        find "$group" -depth -type d -exec rmdir {} + || true
    done
    [ -z "$(our_cgroups "$@")" ]
}
