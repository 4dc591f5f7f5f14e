# Packing the same programs again gives the same bytes.
mkdir -p "$scratch/work"
cp "$work"/base.tar "$work"/licences-*.txt "$scratch/work"
DM_DIST_PROGRAMS=$(realpath "$work/programs") DM_DIST_WORK=$scratch/work DM_DIST_ARTEFACTS=$scratch/again dm/dist/build.sh 2>"$scratch/again.log" ||
    fail "$(cat "$scratch/again.log")"
diff "$artefacts/SHA256SUMS" "$scratch/again/SHA256SUMS" || fail "packing again gave other bytes"
say "packing again gave the same bytes"
