# The image's layout is whole (skopeo compares all digests), and its programs run where it is unpacked.
layout=$scratch/layout
mkdir "$layout"
tar --extract --directory "$layout" --file "$artefacts/$name.oci.tar"
grep -q '"imageLayoutVersion":"1' "$layout/oci-layout" || fail "the image has no oci-layout"
for blob in "$layout"/blobs/sha256/*; do
    sha256sum --check --quiet --strict <<<"$(basename "$blob")  $blob"
done
skopeo copy --quiet "oci-archive:$artefacts/$name.oci.tar:$version" "dir:$scratch/copy"
[ "$(skopeo inspect --config --format '{{.Config.User}}' "oci:$layout:$version")" = 65532:65532 ] || fail "the image runs as another user"

umoci unpack --image "$layout:$version" "$scratch/image" >/dev/null 2>&1
root=$scratch/image/rootfs
bin=/opt/deployment-manager/bin
expands_templates "$root" "$bin"
starts_services "$root" "$bin"
for program in git ssh; do
    inside "$root" sh -c "command -v $program" >/dev/null || fail "the image lacks $program"
done
inside "$root" "$bin/kubectl" version --client >/dev/null || fail "the image's kubectl does not run"
