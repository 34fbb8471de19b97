# What is in a new cluster: images, DNS, namespaces, rights and volumes.

make_images() {
    mkdir -p "$images"
    python3 "$here/image.py" "$images" "$bin/coredns" || fail "no images could be made"
}

fill_cluster() {
    kube apply -f "$here/manifests/namespaces.yaml" >>"$log/manifests.log"
    make_volumes
}

start_dns() { sed "s/@DNS@/$dns/" "$here/manifests/dns.yaml" | kube apply -f - >>"$log/manifests.log"; }

has_default_account() { kube get serviceaccount default --namespace "$1"; }

# Pods cannot be made before there is an account for them.
wait_for_contents() {
    local name
    for name in default "${namespaces[@]}"; do
        until_true 60 "namespace $name has an account for its pods" has_default_account "$name"
    done
    kube rollout status deployment/coredns --namespace kube-system --timeout=120s >>"$log/manifests.log" ||
        fail "DNS does not start; see \`kubectl -n kube-system describe pods\` and $log"
}
