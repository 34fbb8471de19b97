# Who may speak to the API server. Two certificates, for the API server and for its calls to kubelets;
# everybody else has a token. RBAC says what each of them may do.

make_identities() {
    mkdir -p "$keys"
    chmod 700 "$keys"
    (
        cd "$keys"
        umask 077
        make_authority
        make_certificate apiserver /CN=kube-apiserver "subjectAltName=$(api_names)"
        make_certificate kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client extendedKeyUsage=clientAuth
        openssl genrsa -out service-accounts.key 2048
        openssl rsa -in service-accounts.key -pubout -out service-accounts.pub
    ) 2>"$log/openssl.log" || fail "no keys could be made; $log/openssl.log says why"
    make_user admin admin system:masters
    make_user alice alice
    make_user bob bob
    make_user kube-controller-manager system:kube-controller-manager
    make_user kube-scheduler system:kube-scheduler
    make_user kube-proxy system:kube-proxy
    local n
    for n in "${nodes[@]}"; do
        make_user "node$n" "system:node:node$n" system:nodes
    done
}

make_authority() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 \
        -keyout ca.key -out ca.crt -subj /CN=trainyard-testbed
}

# make_certificate NAME SUBJECT EXTENSION
make_certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2"
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -out "$1.crt" \
        -extfile <(echo "$3")
}

api_names() {
    local name names="IP:127.0.0.1,IP:$node_net.1,IP:$api_in_cluster,DNS:localhost"
    for name in kubernetes{,.default,.default.svc,.default.svc.cluster.local}; do
        names+=",DNS:$name"
    done
    echo "$names"
}

# make_user FILE NAME [GROUP]: a token, and a kubeconfig that holds it.
make_user() {
    local token
    token=$(openssl rand -hex 16)
    (umask 077 && echo "$token,$2,$2${3:+,$3}" >>"$keys/tokens.csv")
    (umask 077 && cat >"$keys/$1.kubeconfig") <<CONFIG
apiVersion: v1
kind: Config
clusters: [{name: testbed, cluster: {server: "$api", certificate-authority-data: $(base64 -w0 "$keys/ca.crt")}}]
users: [{name: $1, user: {token: $token}}]
contexts: [{name: testbed, context: {cluster: testbed, user: $1}}]
current-context: testbed
CONFIG
}

# kube ARGUMENTS...: kubectl as the one who may do everything.
kube() { "$bin/kubectl" --kubeconfig "$keys/admin.kubeconfig" "$@"; }
