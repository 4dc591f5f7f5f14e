# Every artefact is there and has the sum that SHA256SUMS says.
(cd "$artefacts" && sha256sum --check --quiet --strict SHA256SUMS)
listed=$(cut -c67- "$artefacts/SHA256SUMS")
for artefact in "$name.tar.gz" "$name.oci.tar" "$name.cdx.json" "deployment-manager_${version}_$(dpkg --print-architecture).deb"; do
    grep -qxF "$artefact" <<<"$listed" || fail "SHA256SUMS does not list $artefact"
done
