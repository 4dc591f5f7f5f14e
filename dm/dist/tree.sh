#!/usr/bin/env bash
# Lays out the files that all artefacts have: bin/, python/ and share/, as they stand in the archive.
source "$(dirname "$0")/settings.sh"

programs=$work/programs
share=$tree/share
doc=$share/doc/deployment-manager
rm -rf "$tree"
mkdir -p "$tree/bin" "$doc" "$share/deployment-manager"

for program in dm manager expandybird expandybird-worker resourcifier; do
    install "$programs/$program" "$tree/bin"
done

# The libraries that Python templates may import. Compiled here and not by pip, which writes its temporary folder into the files.
"$PYO3_PYTHON" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile \
    --target "$tree/python" --requirement expandybird/worker/requirements.txt
rm -rf "$tree/python/bin"
find "$tree/python" -name '*.so' -exec strip --strip-unneeded {} +
PYTHONHASHSEED=0 "$PYO3_PYTHON" -m compileall -q -f -s "$tree" -p /opt/deployment-manager --invalidation-mode unchecked-hash "$tree/python"

# The pages must not show the packer's environment as defaults.
env -i "$programs/man-pages" "$share/man" "$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%d)"
find "$share/man" -type f -exec gzip --no-name --best {} +

complete() { # SHELL FILE
    mkdir -p "$(dirname "$share/$2")"
    env -i "$programs/dm" completion "$1" >"$share/$2"
}
complete bash bash-completion/completions/dm
complete zsh zsh/site-functions/_dm
complete fish fish/vendor_completions.d/dm.fish

cp -r charts "$share/deployment-manager/charts"
cp LICENSE CHANGELOG.md "$doc"
cp -r target/docs "$doc/html"
dm/dist/licences.sh "$tree/python" >"$doc/THIRD-PARTY-LICENSES.txt"
dm/dist/sbom.sh >"$doc/sbom.cdx.json"

chmod -R u=rwX,go=rX "$tree"
