#!/usr/bin/env bash
# The archive, for any Linux with the same C library and Python: unpack it anywhere, and run bin/dm.
source "$(dirname "$0")/settings.sh"

pack_tar "$work" --transform "s,^tree,$name," tree | gzip --no-name --best >"$artefacts/$name.tar.gz"
