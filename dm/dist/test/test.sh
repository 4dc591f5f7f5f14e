#!/usr/bin/env bash
# `make dist-test`: checks what `make dist` made. Installs it into fresh roots, which takes root.
#
# Of target/dist: the sums; the archive and the image run where they are unpacked; the package installs on a bare Debian, and its units
# work under systemd; the image's layout is whole; packing again gives the same bytes. `test.sh CHECK...` does some of it.
source "$(dirname "$0")/../settings.sh"
source dm/dist/test/programs.sh

[ "$(id -u)" = 0 ] || fail "the roots that this installs into take root: run it with sudo"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bare=$work/bare.tar
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")

# fresh NAME – a Debian with apt and nothing else, in the folder that it prints.
fresh() {
    [ -e "$bare" ] || mmdebstrap --quiet --variant=apt --skip=output/dev "$suite" "$bare"
    mkdir "$scratch/$1"
    tar --extract --directory "$scratch/$1" --file "$bare"
    echo "$scratch/$1"
}

[ $# -gt 0 ] || set -- sums archive package units image again
for check; do
    say "checking: $check"
    source "dm/dist/test/$check.sh"
done
say "all that was checked is as it should be"
