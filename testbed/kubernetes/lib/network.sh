# One switch, a cable from it to every node and one to the machine itself. The switch is a bridge in a
# namespace of its own, so the machine's own rules and settings neither see nor change anything.

node_space() { echo "$prefix-node$1"; }

make_switch() {
    ip netns add "$switch"
    # Frames between nodes are not the business of any packet filter.
    nsenter --net="/run/netns/$switch" sysctl -qw net.bridge.bridge-nf-call-iptables=0 2>/dev/null || true
    ip -n "$switch" link add bridge type bridge
    ip -n "$switch" link set bridge up
    ip link add "$prefix-host" type veth peer name host netns "$switch"
    ip -n "$switch" link set host master bridge up
    ip address add "$node_net.1/24" dev "$prefix-host"
    ip link set "$prefix-host" up
    local n
    for n in "${nodes[@]}"; do
        ip route add "$pod_net.$n.0/24" via "$(node_address "$n")"
    done
    # The machine reaches services through the first node.
    ip route add "$service_net" via "$(node_address 1)"
}

# What a node has of the network when it is switched on.
plug_in() {
    local n=$1 other space
    space=$(node_space "$n")
    ip netns add "$space"
    ip link add eth0 netns "$space" type veth peer name "node$n" netns "$switch"
    ip -n "$switch" link set "node$n" master bridge up
    ip -n "$space" link set lo up
    ip -n "$space" address add "$(node_address "$n")/24" dev eth0
    ip -n "$space" link set eth0 up
    ip -n "$space" route add default via "$node_net.1"
    for other in "${nodes[@]}"; do
        [ "$other" = "$n" ] || ip -n "$space" route add "$pod_net.$other.0/24" via "$(node_address "$other")"
    done
    nsenter --net="/run/netns/$space" sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
}

# A machine without power has no network. Its end of the cable goes, and the other end with it.
unplug() { ip netns del "$(node_space "$1")"; }

cut_cable() { ip -n "$switch" link set "node$1" down; }
mend_cable() { ip -n "$switch" link set "node$1" up; }
is_cut() { ! ip -n "$switch" link show "node$1" up 2>/dev/null | grep -q node; }

# Every namespace of ours, by name; there are some only while a cluster is up, or after it crashed.
our_spaces() { ip netns list | cut -d' ' -f1 | grep "^$prefix-" || true; }

# Cables, routes and rules go with the namespaces that hold them.
remove_network() {
    local space
    for space in $(our_spaces); do
        ip netns del "$space"
    done
    ip link del "$prefix-host" 2>/dev/null || true
}
