# What every installation must do, whatever artefact it is from. To be sourced; needs root, for chroot.

# inside ROOT COMMAND... – runs it with the folder as the root, with /proc and /dev, and ends what it leaves behind.
inside() {
    local root=$1
    shift
    unshare --mount --pid --fork --kill-child -- bash -c '
        mkdir -p "$0/dev" "$0/proc" && mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}

# expands_templates ROOT PATH – dm expands a Jinja and a Python template without a server.
expands_templates() {
    local root=$1 path=$2 expansion
    mkdir -p "$root/tmp/check"
    cp dm/dist/test/templates/* "$root/tmp/check"
    inside "$root" env -i PATH="$path" dm version | grep -qx "dm $version" || fail "$root: dm version is not $version"
    expansion=$(inside "$root" env -i PATH="$path" dm expand --local /tmp/check/greetings.yaml) || fail "$root: dm expand failed"
    for greeting in "from Jinja" "from Python"; do
        grep -q "greeting: $greeting" <<<"$expansion" || fail "$root: the expansion lacks '$greeting': $expansion"
    done
    say "dm runs, and expands a Jinja and a Python template"
}

# starts_services ROOT PROGRAMS – the three services start, each on a port of its own choice, and answer.
starts_services() {
    local root=$1 bin=$2 flags="--listen 127.0.0.1:0 --port-file"
    inside "$root" env -i PATH="$bin:/usr/bin:/bin" HOME=/tmp sh -ec "
        cd /tmp
        expandybird $flags /tmp/expandybird.port &
        resourcifier $flags /tmp/resourcifier.port &
        manager $flags /tmp/manager.port --store sled:/tmp/store --registry-cache /tmp/cache --registry-folder /usr/share/deployment-manager/charts &
        wait" >"$work/services.log" 2>&1 &
    local services=$! service
    for service in expandybird resourcifier manager; do
        answers "$root/tmp/$service.port" || { cat "$work/services.log" >&2; kill "$services"; fail "$root: $service does not answer"; }
    done
    kill "$services"
    wait "$services" 2>/dev/null || true
    say "the three services start and answer"
}

answers() { # PORT-FILE
    for _ in $(seq 300); do
        if [ -s "$1" ] && curl --silent --fail --output /dev/null "http://127.0.0.1:$(cat "$1")/healthz"; then return; fi
        sleep 0.2
    done
    return 1
}
