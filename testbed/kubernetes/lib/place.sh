# Where things lie, what they are called, and which addresses they have. Sourced by everything here.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
place=${TRAINYARD_TESTBED:-$HOME/.cache/trainyard}/kubernetes
bin=$place/bin
log=$place/log       # of the latest cluster; outlives it
run=$place/run       # everything a cluster has; removed with it
keys=$run/keys
pids=$run/pids
images=$run/images   # what every node has, those too that come up later

# The machine's own network gets one card, `tyk-host`; everything else is in namespaces called `tyk-...`.
prefix=tyk
switch=$prefix-switch
nodes=(1 2 3)
volumes_per_node=4
namespaces=(trainyard-test trainyard-plain)
users=(admin alice bob)

node_net=10.200.0    # .1 is the machine with the control plane, .11 to .13 are the nodes
pod_net=10.201       # 10.201.N.0/24 on node N
service_net=10.202.0.0/16
api_in_cluster=10.202.0.1
dns=10.202.0.10
api=https://$node_net.1:6443
etcd=http://127.0.0.1:12379
etcd_peers=http://127.0.0.1:12380

# Seconds until one of Kubernetes' programs notices a dead connection; 30 and 15 by default.
export HTTP2_READ_IDLE_TIMEOUT_SECONDS=5 HTTP2_PING_TIMEOUT_SECONDS=3

node_address() { echo "$node_net.$((10 + $1))"; }
node_folder() { echo "$run/node$1"; }

say() { echo "cluster: $*" >&2; }
fail() { say "$*"; exit 1; }

# until_true SECONDS WHAT COMMAND...: waits for a command to succeed.
until_true() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    # In parentheses, so that we can still speak when a signal comes meanwhile.
    until ("$@") >/dev/null 2>&1; do
        ((SECONDS < end)) || fail "$what: not so after a long wait; the logs are in $log"
        sleep 0.1
    done
}
