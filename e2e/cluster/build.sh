#!/bin/sh
# Builds dm-cluster and kubectl once for this state of the sources, into a cache folder outside the clone, and prints
# that folder. A second call finds it there and takes no time. Progress goes to standard error.
#
# The folder: ${DM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deployment-manager}/cluster-<sha256 of go.sum and the sources>
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${DM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deployment-manager}

say() { echo "e2e/cluster: $*" >&2; }

# From 1.21 on, Go fetches by itself the version that go.mod names.
is_new_enough() {
    minor=$("$1" version 2>/dev/null | sed -n 's/^go version go1\.\([0-9]*\).*/\1/p')
    [ "${minor:-0}" -ge 21 ]
}

# Prints the first Go there is that meets a condition.
find_go() {
    for go in "$(command -v go || true)" /usr/local/go/bin/go /usr/lib/go/bin/go; do
        if [ -n "$go" ] && [ -x "$go" ] && "$1" "$go"; then
            echo "$go"
            return
        fi
    done
    return 1
}

install_go() {
    say "installing Go (apt-get install golang-go)"
    as_root=
    [ "$(id -u)" = 0 ] || as_root="sudo -n"
    if ! command -v apt-get >/dev/null ||
        ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends golang-go ca-certificates; } >&2; then
        say "Go is missing and could not be installed: install Go 1.21 or newer (https://go.dev/doc/install)"
        exit 1
    fi
}

# An older Go cannot switch by itself, but it can fetch the same toolchain, which is a module; `go mod download` checks
# it against the public checksum database. Modules hold no executables, hence the chmod.
bootstrap_go() {
    wanted=go$(sed -n 's/^go \([0-9.]*\)$/\1/p' "$here/go.mod").$("$1" env GOOS)-$("$1" env GOARCH)
    toolchain=$cache/$wanted
    if [ ! -x "$toolchain/bin/go" ]; then
        say "$("$1" version) is too old, fetching $wanted"
        module=$(cd / && "$1" mod download -json "golang.org/toolchain@v0.0.1-$wanted" | sed -n 's/^.*"Dir": "\(.*\)",*$/\1/p')
        cp -R "$module" "$toolchain.$$"
        chmod -R u+w "$toolchain.$$"
        chmod +x "$toolchain.$$"/bin/* "$toolchain.$$"/pkg/tool/*/*
        mv "$toolchain.$$" "$toolchain"
    fi
    echo "$toolchain/bin/go"
}

build() {
    go=$(find_go is_new_enough || find_go true || { install_go && find_go true; })
    is_new_enough "$go" || go=$(bootstrap_go "$go")
    say "building with $go (the first time takes about five minutes)"
    cd "$here"
    export GOTOOLCHAIN=auto GOFLAGS= GOWORK=off CGO_ENABLED=0
    # Unset, Kubernetes would call itself v0.0.0-master, and serve and expect the wrong versions of APIs.
    version=$("$go" list -m -f '{{.Version}}' k8s.io/kubernetes)
    minor=${version#v1.}
    package=k8s.io/component-base/version
    "$go" build -trimpath -buildvcs=false -o "$work/dm-cluster" -ldflags "-s -w \
        -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} \
        -X $package.gitTreeState=clean" . >&2
    ln "$work/dm-cluster" "$work/kubectl"
}

key=$(cd "$here" && { cat go.mod go.sum; find . -name '*.go' ! -name '*_test.go' | LC_ALL=C sort | xargs cat; cat build.sh; } | sha256sum | cut -c1-64)
built=$cache/cluster-$key
if [ ! -x "$built/kubectl" ]; then
    mkdir -p "$cache"
    exec 9>"$cache/cluster.lock"
    flock 9
    # Another build may have finished meanwhile.
    if [ ! -x "$built/kubectl" ]; then
        work=$(mktemp -d "$cache/cluster.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        trap 'exit 1' INT TERM HUP
        build
        rm -rf "$built"
        mv "$work" "$built"
    fi
fi
echo "$built"
