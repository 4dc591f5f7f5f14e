#!/usr/bin/env bash
# `make dist`: compiles the programs, and packs them into target/dist as an archive, a Debian package and a container image.
#
# DM_DIST_PROGRAMS=FOLDER packs programs that were compiled before, instead of compiling them.
source "$(dirname "$0")/settings.sh"

dm/dist/prepare.sh
dm/dist/compile.sh
dm/dist/tree.sh

rm -rf "$artefacts"
mkdir -p "$artefacts"
dm/dist/archive.sh
dm/dist/debian.sh
dm/dist/image.sh
cp "$tree/share/doc/deployment-manager/sbom.cdx.json" "$artefacts/$name.cdx.json"
(cd "$artefacts" && sha256sum -- * >SHA256SUMS.part && mv SHA256SUMS.part SHA256SUMS)
say "done:"
(cd "$artefacts" && ls -l) >&2
