#!/usr/bin/env bash
# Installs what packing takes beyond `make setup`, as far as it is missing. Packages are made on Debian or Ubuntu only: they fit the
# release that they are made on.
source "$(dirname "$0")/settings.sh"

command -v apt-get >/dev/null || fail "releases are packed on Debian or Ubuntu: run this there, or in a container of it"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

missing=()
needs() { # COMMAND-OR-FILE PACKAGE...
    if ! command -v "$1" >/dev/null && ! [ -e "$1" ]; then missing+=("${@:2}"); fi
}
needs dpkg-shlibdeps dpkg-dev
needs mmdebstrap mmdebstrap
needs patchelf patchelf
needs umoci umoci
needs skopeo skopeo
needs "$("$PYO3_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null || true)/Python.h" python3 python3-dev
needs /usr/lib/python3/dist-packages/pip python3-pip

if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi
