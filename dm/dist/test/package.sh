# The package installs on a bare Debian with what it depends on, its programs and units work, and it goes without a trace.
package=deployment-manager_${version}_$(dpkg --print-architecture).deb
root=$(fresh package)
cp "$artefacts/$package" "$root/tmp"
inside "$root" apt-get update -qq
inside "$root" apt-get install -y -qq --no-install-recommends "/tmp/$package" >"$scratch/apt.log" 2>&1 || fail "$(cat "$scratch/apt.log")"
expands_templates "$root" /usr/bin:/bin
starts_services "$root" /usr/lib/deployment-manager/bin

[ "$(stat --format=%a "$root/var/lib/deployment-manager")" = 700 ] || fail "others may read the store's folder"
if command -v systemd-analyze >/dev/null; then
    systemd-analyze verify --man=no --recursive-errors=no --root="$root" deployment-manager.target
fi

inside "$root" apt-get purge -y -qq deployment-manager >"$scratch/apt.log" 2>&1 || fail "$(cat "$scratch/apt.log")"
left=$(find "$root/etc" "$root/usr" "$root/var" -name '*deployment-manager*' -not -path '*/var/lib/dpkg/*' -not -path '*/var/log/*')
[ -z "$left" ] || fail "the purged package left: $left"
say "the package installs, and can be purged"
