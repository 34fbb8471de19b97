#!/usr/bin/env bash
# The first process of a node: makes its namespaces look like a machine, starts its programs, and waits.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../lib/place.sh"
n=$1
name=node$n
folder=$(node_folder "$n")

# A node has folders of its own where its programs write. /run forgets what was, as on any machine.
mount_folders() {
    mount --make-rshared / # within our own namespace; kubelet wants it so
    mount -t tmpfs -o mode=755 tmpfs /run
    local part
    for part in var/lib var/log; do
        mkdir -p "$folder/$part"
        mount --bind "$folder/$part" "/$part"
    done
    mkdir -p /var/lib/{kubelet,containerd,cni} /var/log/{pods,containers}
}

# Directories that PersistentVolumes point at. No other node has them.
mount_volumes() {
    local number
    for ((number = 1; number <= volumes_per_node; number++)); do
        mkdir -p "$folder/volumes/$number" "/run/volumes/$number"
        mount --bind "$folder/volumes/$number" "/run/volumes/$number"
    done
}

# kubelet changes settings of the kernel, which all nodes and the machine share. It sees them as it
# wants them and leaves the real ones alone. The boot number is one of this start.
pretend() {
    mkdir -p "$(dirname "/run/pretended/$1")"
    echo "$2" >"/run/pretended/$1"
    mount --bind "/run/pretended/$1" "/proc/sys/$1"
}

pretend_settings() {
    pretend vm/overcommit_memory 1
    pretend vm/panic_on_oom 0
    pretend kernel/panic 10
    pretend kernel/panic_on_oops 1
    pretend kernel/keys/root_maxkeys 1000000
    pretend kernel/keys/root_maxbytes 25000000
    pretend kernel/random/boot_id "$(cat /proc/sys/kernel/random/uuid)"
}

# fill FILE: a file of this folder with this node's names and addresses in it, at /run/node.
fill() {
    sed -e "s|@NAME@|$name|g" -e "s|@CGROUP@|/$prefix-$name|g" -e "s|@KEYS@|$keys|g" -e "s|@DNS@|$dns|g" \
        -e "s|@PODS@|$pod_net.$n.0/24|g" -e "s|@ALL_PODS@|$pod_net.0.0/16|g" "$here/node/$1" >"/run/node/$1"
}

hostname "$name"
mount_folders
mount_volumes
pretend_settings
mkdir -p /run/node/cni
for file in containerd.toml kubelet.yaml kube-proxy.yaml cni.conflist; do
    fill "$file"
done
mv /run/node/cni.conflist /run/node/cni/
echo "nameserver 127.0.0.1" >/run/node/resolv.conf # pods with the node's own resolver know nobody

containerd --config /run/node/containerd.toml >>"$log/$name-containerd.log" 2>&1 &
until_true 60 "containerd on $name answers" ctr --address /run/containerd/containerd.sock version
bash "$here/node/images.sh" "$n"
bash "$here/node/kubelet.sh" start "$n"
"$bin/kube-proxy" --config=/run/node/kube-proxy.yaml >>"$log/$name-proxy.log" 2>&1 &
touch "$folder/is-up"

# Orphans of a node become children of this process, which bash reaps while it waits.
while :; do
    wait -n || true
    sleep 0.5
done
