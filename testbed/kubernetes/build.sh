#!/usr/bin/env bash
# Builds the programs of one folder of modules/ from Go modules. Called by setup.sh, which keeps the caches;
# a change in this file makes it build anew.
set -euo pipefail

if [ $# != 2 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
    echo "usage: testbed/kubernetes/build.sh kubernetes|helm|coredns FOLDER" >&2
    echo "Puts the programs into FOLDER. GOCACHE and GOMODCACHE say where Go keeps what it has done so far." >&2
    exit 2
fi
name=$1
mkdir -p "$2"
into=$(cd "$2" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/modules/$name"

# Static programs, as some of them go into images that hold nothing else. Sums are those of go.sum, always.
export CGO_ENABLED=0 GOTOOLCHAIN=local GOWORK=off
export GOFLAGS="-buildvcs=false -trimpath -mod=readonly"

version_of() { go list -m -f '{{.Version}}' "$1"; }

# Without a version of their own, the parts of Kubernetes take each other for incompatible.
kubernetes_version() {
    local version minor package
    version=$(version_of k8s.io/kubernetes)
    minor=$(cut -d. -f2 <<<"$version")
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf -- '-X %s.gitVersion=%s ' "$package" "$version"
        printf -- '-X %s.gitMajor=1 -X %s.gitMinor=%s -X %s.gitTreeState=clean ' "$package" "$package" "$minor" "$package"
    done
}

packages=tool # every `tool` line of go.mod
flags=
case $name in
    kubernetes) flags=$(kubernetes_version) ;;
    helm) flags="-X helm.sh/helm/v3/internal/version.version=$(version_of helm.sh/helm/v3)" ;;
    coredns) packages=. ;;
esac
go build -ldflags "-s -w $flags" -o "$into/" "$packages"
