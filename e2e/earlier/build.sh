#!/bin/sh
# Builds the manager of the commit in the file `commit` once, into a cache folder outside the clone, and prints the path of the
# program. A second call finds it there and takes no time. Progress goes to standard error.
#
# It is the last manager that does not write the newest format of the store: `make upgrade-test` runs it beside this one.
#
# The folder: ${DM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deployment-manager}/manager-<commit>
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cache=${DM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deployment-manager}
commit=$(cat "$here/commit")
built=$cache/manager-$commit

say() { echo "e2e/earlier: $*" >&2; }

build() {
    if ! git -C "$here" cat-file -e "$commit^{commit}" 2>/dev/null; then
        say "this clone does not have commit $commit: fetch the whole history (git fetch --unshallow)"
        exit 1
    fi
    say "building the manager of commit $commit (some minutes, once)"
    git -C "$(git -C "$here" rev-parse --show-toplevel)" archive --prefix source/ "$commit" | tar -x -C "$work"
    (cd "$work/source" && CARGO_TARGET_DIR="$work/target" "${CARGO:-cargo}" build --locked --package manager --bin manager >&2)
    mv "$work/target/debug/manager" "$work/manager"
    rm -rf "$work/source" "$work/target"
}

if [ ! -x "$built/manager" ]; then
    mkdir -p "$cache"
    exec 9>"$cache/manager.lock"
    flock 9
    # Another build may have finished meanwhile.
    if [ ! -x "$built/manager" ]; then
        work=$(mktemp -d "$cache/manager.XXXXXX")
        trap 'rm -rf "$work"' EXIT
        trap 'exit 1' INT TERM HUP
        build
        rm -rf "$built"
        mv "$work" "$built"
    fi
fi
echo "$built/manager"
