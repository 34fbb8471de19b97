# PersistentVolumes: some directories on each node, which no other node has. That they are of 1Gi is
# not enforced.

volume_numbers() {
    local n number
    for n in "${nodes[@]}"; do
        for ((number = 1; number <= volumes_per_node; number++)); do
            echo "$n $number"
        done
    done
}

# volume N NUMBER: as a manifest.
volume() {
    cat <<VOLUME
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: node$1-$2}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  persistentVolumeReclaimPolicy: Retain
  local: {path: /run/volumes/$2}
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node$1]}]
VOLUME
}

make_volumes() {
    local n number
    while read -r n number; do
        volume "$n" "$number"
    done < <(volume_numbers) | kube apply -f - >>"$log/manifests.log"
}

# Volumes whose claim is gone are emptied and can be claimed again; Kubernetes leaves that to people.
recycle_volumes() {
    local name free
    mapfile -t free < <(kube get pv -o 'jsonpath={range .items[*]}{.metadata.name} {.status.phase}{"\n"}{end}' |
        sed -nE 's/ (Released|Failed)$//p')
    ((${#free[@]} > 0)) || return 0
    kube delete pv "${free[@]}" --timeout=60s >>"$log/manifests.log"
    for name in "${free[@]}"; do
        # The directory itself stays, as it is mounted on the node.
        find "$run/${name%-*}/volumes/${name#*-}" -mindepth 1 -delete
    done
    make_volumes
    say "can be claimed again: ${free[*]}"
}
