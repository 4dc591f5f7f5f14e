#!/usr/bin/env bash
# Holds the dependencies to deny.toml: licences, sources and bans always, known vulnerabilities by the RustSec database.
#
# Where the database can be neither fetched nor found from before, `audit.sh` says so and goes on, so that work without a
# network is possible; `audit.sh --complete` fails then.
set -euo pipefail
cd "$(dirname "$0")/.."

deny() { e2e/tool.sh cargo-deny 0.20.2 --log-level error "$@"; }

# The licences of all platforms' packages are read, and a build fetches only this platform's. Needs no network once they are here.
cargo fetch --locked --quiet
deny --offline check bans licenses sources
if timeout 120 e2e/tool.sh cargo-deny 0.20.2 fetch db >/dev/null 2>&1 || compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/crates" >/dev/null; then
    deny check --disable-fetch advisories
elif [ "${1:-}" = --complete ]; then
    echo "audit: the database of advisories cannot be fetched: run this where it can" >&2
    exit 1
else
    echo "audit: KNOWN VULNERABILITIES WERE NOT CHECKED, as the database of advisories cannot be fetched; run \`make audit\` where it can" >&2
fi
