#!/usr/bin/env bash
# The Debian package: the archive's files in Debian's places, with units for the three services.
source "$(dirname "$0")/settings.sh"

root=$work/debian
lib=$root/usr/lib/deployment-manager
doc=$root/usr/share/doc/deployment-manager
etc=$root/etc/deployment-manager
sources=dm/dist/debian
rm -rf "$root"
mkdir -p "$lib" "$root/usr/bin" "$root/usr/lib/systemd/system" "$etc" "$root/DEBIAN"

cp -r "$tree/bin" "$tree/python" "$lib"
cp -r "$tree/share" "$root/usr/share"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
# dm finds expandybird beside the file that this link leads to.
ln -s ../lib/deployment-manager/bin/dm "$root/usr/bin/dm"
cp "$sources"/systemd/* "$root/usr/lib/systemd/system"
cp "$sources"/etc/* "$etc"
(cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"

# What the programs are linked with, and in which versions.
dependencies() {
    local control=$work/shlibdeps
    mkdir -p "$control/debian"
    printf 'Source: deployment-manager\n\nPackage: deployment-manager\nArchitecture: any\n' >"$control/debian/control"
    find "$lib" -type f \( -perm -u=x -o -name '*.so' \) -printf '%p\n' | sort |
        (cd "$control" && xargs dpkg-shlibdeps --warnings=0 -O) | sed -n 's/^shlibs:Depends=//p'
}

debian_architecture=$(dpkg --print-architecture)
depends=$(dependencies)
fill() { # FILE TARGET
    sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$debian_architecture/" -e "s/@DATE@/$(date --rfc-email --date="@$SOURCE_DATE_EPOCH")/" \
        -e "s/@SIZE@/$(du -ks --apparent-size "$root/usr" | cut -f1)/" -e "s/@DEPENDS@/$depends/" "$1" >"$2"
}

mkdir -p "$root/usr/share/lintian/overrides"
cp "$sources/lintian-overrides" "$root/usr/share/lintian/overrides/deployment-manager"
rm "$doc/LICENSE"
cp "$sources/copyright" "$doc"
fill "$sources/changelog" "$doc/changelog"
gzip --no-name --best "$doc/changelog" "$doc/CHANGELOG.md" "$doc/THIRD-PARTY-LICENSES.txt"
fill "$sources/control" "$root/DEBIAN/control"
install "$sources/postinst" "$sources/prerm" "$sources/postrm" "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
# One thread: several write other bytes.
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" "$artefacts/deployment-manager_${version}_$debian_architecture.deb" >&2
