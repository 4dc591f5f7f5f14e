#!/usr/bin/env bash
# Compiles the programs into target/dist-build, so that two clones at different places come to the same bytes.
#
# A folder of its own: other flags would make `make release` compile everything again.
source "$(dirname "$0")/settings.sh"

programs=$work/programs
rm -rf "$programs"
mkdir -p "$programs"

if [ -z "${DM_DIST_PROGRAMS:-}" ]; then
    # Paths of this machine would be in panics and in debug information.
    cargo_home=${CARGO_HOME:-$HOME/.cargo}
    export RUSTFLAGS="--remap-path-prefix=$PWD=/build --remap-path-prefix=$cargo_home=/cargo"
    export CFLAGS="-ffile-prefix-map=$PWD=/build -ffile-prefix-map=$cargo_home=/cargo"
    # The machine's settings may name other tools.
    export CC=cc CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=cc CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=cc
    profile=${DM_DIST_PROFILE:-release}
    DM_UI_REQUIRED=1 cargo build --workspace --bins --locked --profile "$profile" --target-dir target/dist-build
    # Cargo calls the folder of its profile `dev` debug.
    DM_DIST_PROGRAMS=target/dist-build/${profile/#dev/debug}
fi

for program in dm manager expandybird expandybird-worker resourcifier man-pages; do
    strip --enable-deterministic-archives --strip-unneeded -o "$programs/$program" "$DM_DIST_PROGRAMS/$program"
done

# For tests, the worker knows where the Python that it was built with has its library. An installed one takes the system's.
patchelf --remove-rpath "$programs/expandybird-worker"

library=$(ldd "$programs/expandybird-worker" | sed -n 's/.*libpython.* => \([^ ]*\) .*/\1/p')
if [ "$(dpkg -S "$(realpath "${library:-/}")" 2>/dev/null | grep -c ^libpython)" = 0 ]; then
    fail "expandybird-worker is linked with ${library:-no Python}, which no package has: compile it with PYO3_PYTHON=$PYO3_PYTHON"
fi
