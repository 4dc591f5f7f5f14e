# The units of the package work under systemd: a container with a system of its own and no network boots, and inspects itself.
command -v systemd-nspawn >/dev/null || apt-get install -y -qq --no-install-recommends systemd-container >&2
root=$(fresh units)
cp "$artefacts/deployment-manager_${version}_$(dpkg --print-architecture).deb" "$root/tmp/package.deb"
inside "$root" apt-get update -qq
inside "$root" apt-get install -y -qq --no-install-recommends systemd-sysv dbus curl /tmp/package.deb >"$scratch/apt.log" 2>&1 || fail "$(cat "$scratch/apt.log")"
mkdir "$root/check"
cp -r dm/dist/test/templates dm/dist/test/units/* "$root/check"
cp "$root/check/check.service" "$root/etc/systemd/system"
# A kubeconfig of a cluster that is not there: resourcifier starts, and says that it is not ready.
install -m 600 "$root/check/kubeconfig" "$root/etc/deployment-manager/kubeconfig"
inside "$root" systemctl --quiet enable deployment-manager.target check.service

# The container lets in the calls of Landlock, which confines templates: a machine does so anyway.
booted=0
timeout 600 systemd-nspawn --quiet --directory="$root" --machine=deployment-manager-check --register=no --keep-unit --private-network \
    --system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self" --boot \
    >"$work/units.log" 2>&1 </dev/null || booted=$?
[ -e "$root/check/log" ] || fail "the container did not boot: $(cat "$work/units.log")"
[ "$booted" = 0 ] || fail "the units do not work: $(cat "$root/check/log")"
say "the units start, answer, come back when killed, and stop"
