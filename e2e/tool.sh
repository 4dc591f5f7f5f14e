#!/usr/bin/env bash
# Builds a cargo tool once for this version, into the cache folder outside the clone, and runs it here: `tool.sh NAME VERSION ARGUMENT...`.
# Built without optimisation: it is used for seconds, and built on every new machine. TOOL_FEATURES names features that it needs.
set -euo pipefail
name=$1 version=$2
shift 2
cache=${DM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/deployment-manager}
root=$cache/$name-$version

if [ ! -x "$root/bin/$name" ]; then
    mkdir -p "$cache"
    exec 9>"$cache/$name.lock"
    flock 9
    # Another build may have finished meanwhile.
    if [ ! -x "$root/bin/$name" ]; then
        echo "tool: building $name $version (once, some minutes)" >&2
        cargo install --quiet --locked --debug --root "$root" ${TOOL_FEATURES:+--features "$TOOL_FEATURES"} "$name@$version" 9>&-
    fi
    exec 9>&-
fi
exec "$root/bin/$name" "$@"
