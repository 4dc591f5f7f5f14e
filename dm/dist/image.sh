#!/usr/bin/env bash
# The container image as an OCI layout in a tar archive, without a daemon: what the Containerfile makes, of the programs at hand.
#
# Two layers: Debian's packages of this machine's release, and ours.
source "$(dirname "$0")/settings.sh"

image=$work/image
base=$work/base.tar
layer=$work/layer
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
python=$(dpkg -S "$(realpath "/usr/lib/$architecture-linux-gnu/$("$PYO3_PYTHON" -c 'import sysconfig; print(sysconfig.get_config_var("INSTSONAME"))')")" | cut -d: -f1)

# git and ssh fetch templates, Python runs them. The user is who the chart runs it as; ssh insists that one has a name.
make_base() {
    say "fetching Debian's packages for the image"
    mmdebstrap --variant=essential --skip=output/dev --include="ca-certificates,git,openssh-client,$python" \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --customize-hook='echo "deployment-manager:x:65532:" >>"$1/etc/group"' \
        --customize-hook='echo "deployment-manager:x:65532:65532::/tmp:/usr/sbin/nologin" >>"$1/etc/passwd"' \
        --quiet "$suite" "$base"
}

# kubectl is built from source, from the modules that e2e/cluster/go.mod names.
lay_programs() {
    local opt=$layer/opt/deployment-manager share=$layer/usr/share
    rm -rf "$layer"
    mkdir -p "$opt" "$share/deployment-manager" "$share/doc"
    cp -r "$tree/bin" "$tree/python" "$opt"
    cp "$(e2e/cluster/build.sh)/kubectl" "$opt/bin"
    cp -r "$tree/share/deployment-manager/charts" "$share/deployment-manager"
    cp -r "$tree/share/doc/deployment-manager" "$share/doc"
    pack_tar "$layer" opt usr >"$work/layer.tar"
}

# A release has the security updates of its day.
[ -n "$(find "$base" -mtime -1 2>/dev/null)" ] || make_base
lay_programs

created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
rm -rf "$image"
umoci init --layout "$image"
umoci new --image "$image:$version"
add() { # LAYER WHAT
    umoci raw add-layer --image "$image:$version" --history.created "$created" --history.created_by "$2" "$1"
}
add "$base" "debian $suite"
add "$work/layer.tar" "deployment-manager $version"
umoci config --image "$image:$version" --created "$created" --no-history \
    --os linux --architecture "$(dpkg --print-architecture)" \
    --config.user 65532:65532 --config.env HOME=/tmp \
    --config.env PATH=/opt/deployment-manager/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --config.label org.opencontainers.image.title=deployment-manager \
    --config.label "org.opencontainers.image.version=$version" \
    --config.label org.opencontainers.image.licenses=Apache-2.0
umoci gc --layout "$image"

pack_tar "$image" . >"$artefacts/$name.oci.tar"
