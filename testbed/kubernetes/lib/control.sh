# The control plane: four programs on the machine itself. None of them elects a leader, as there is
# one of each; so all of them live through an API server that is gone for a while.

control_plane=(etcd kube-apiserver kube-controller-manager kube-scheduler)

start_etcd() {
    # What it holds is gone with the cluster, so nothing waits for a disk.
    start etcd etcd --name testbed --data-dir "$run/etcd" --unsafe-no-fsync \
        --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
        --listen-peer-urls "$etcd_peers" --initial-advertise-peer-urls "$etcd_peers" \
        --initial-cluster "testbed=$etcd_peers"
}

start_apiserver() {
    local flags=(
        --etcd-servers="$etcd" --service-cluster-ip-range="$service_net" --allow-privileged=true
        --bind-address="$node_net.1" --advertise-address="$node_net.1" --secure-port=6443
        --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction
        --token-auth-file="$keys/tokens.csv" --client-ca-file="$keys/ca.crt"
        --tls-cert-file="$keys/apiserver.crt" --tls-private-key-file="$keys/apiserver.key"
        --kubelet-client-certificate="$keys/kubelet-client.crt" --kubelet-client-key="$keys/kubelet-client.key"
        --kubelet-preferred-address-types=InternalIP
        --service-account-issuer=https://kubernetes.default.svc.cluster.local
        --service-account-key-file="$keys/service-accounts.pub"
        --service-account-signing-key-file="$keys/service-accounts.key"
        # Pods leave a lost node after these many seconds; 300 by default.
        --default-not-ready-toleration-seconds=5 --default-unreachable-toleration-seconds=5
        --event-ttl=6h
    )
    start kube-apiserver "$bin/kube-apiserver" "${flags[@]}"
}

api_answers() { kube get --raw /readyz --request-timeout=5s; }
wait_for_api() { until_true 120 "the API server answers" api_answers; }

start_controllers() {
    local flags=(
        --kubeconfig="$keys/kube-controller-manager.kubeconfig" --use-service-account-credentials=true
        --service-account-private-key-file="$keys/service-accounts.key" --root-ca-file="$keys/ca.crt"
        --cluster-signing-cert-file="$keys/ca.crt" --cluster-signing-key-file="$keys/ca.key"
        --leader-elect=false --bind-address=127.0.0.1 --kube-api-qps=300 --kube-api-burst=600
        # A node that is not heard for 16 s is lost (50 by default), looked at every 2 s (5), and a lost node's
        # pods are sent away at once (one node in ten seconds).
        --node-monitor-grace-period=16s --node-monitor-period=2s --node-eviction-rate=10
    )
    start kube-controller-manager "$bin/kube-controller-manager" "${flags[@]}"
}

start_scheduler() {
    start kube-scheduler "$bin/kube-scheduler" --kubeconfig="$keys/kube-scheduler.kubeconfig" \
        --leader-elect=false --bind-address=127.0.0.1 --kube-api-qps=300 --kube-api-burst=600
}
