# What all steps of `make dist` agree on. A script sources it first and works from the clone's root after that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
architecture=$(uname -m)
name=deployment-manager-$version-$architecture-linux-gnu

# The artefacts, and what they are made from. The tests pack a second time, into other folders.
artefacts=${DM_DIST_ARTEFACTS:-$PWD/target/dist}
work=${DM_DIST_WORK:-$PWD/target/dist-work}
tree=$work/tree

# The time of every file: that of the commit. SOURCE_DATE_EPOCH is what all tools used here know it by.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Debian's own Python, which the installed worker is linked with. The machine may have others.
export PYO3_PYTHON=/usr/bin/python3
export LC_ALL=C TZ=UTC
umask 022

say() { echo "dist: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

# pack_tar FOLDER ENTRY... – the same bytes for the same files, on standard output.
pack_tar() {
    local folder=$1
    shift
    tar --create --directory "$folder" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
        --owner=0 --group=0 --numeric-owner "$@"
}
