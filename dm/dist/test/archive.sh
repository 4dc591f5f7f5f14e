# The archive has all its parts, and its programs run where it is unpacked, on a Debian with Python's library and certificates.
entries=$(tar --list --file "$artefacts/$name.tar.gz")
for entry in bin/{dm,manager,expandybird,expandybird-worker,resourcifier} python/{yaml,jinja2,markupsafe}/ python/six.py \
    share/man/man1/dm{,-deploy,-update}.1.gz share/man/man8/{manager,expandybird,resourcifier}.8.gz \
    share/bash-completion/completions/dm share/zsh/site-functions/_dm share/fish/vendor_completions.d/dm.fish \
    share/deployment-manager/charts/redis/ share/doc/deployment-manager/{LICENSE,CHANGELOG.md,THIRD-PARTY-LICENSES.txt,sbom.cdx.json}; do
    grep -qxF "$name/$entry" <<<"$entries" || fail "the archive lacks $entry"
done
if tar --list --verbose --numeric-owner --file "$artefacts/$name.tar.gz" | grep -v ' 0/0 ' >&2; then fail "the archive has files that are not root's"; fi

root=$(fresh archive)
inside "$root" apt-get update -qq
inside "$root" apt-get install -y -qq --no-install-recommends ca-certificates libpython3.11 >"$scratch/apt.log" 2>&1 || fail "$(cat "$scratch/apt.log")"
tar --extract --directory "$root/opt" --file "$artefacts/$name.tar.gz"
expands_templates "$root" "/opt/$name/bin"
