#!/usr/bin/env bash
# Prints the licences of everything that the programs are made of, the page included, and of the Python libraries in the given folder.
source "$(dirname "$0")/settings.sh"

# Finding them takes minutes: they are kept for as long as the packages are the same.
found=$work/licences-$(cat Cargo.lock dm/dist/licences/* | sha256sum | cut -c1-16).txt
if ! [ -e "$found" ]; then
    mkdir -p "$work"
    say "collecting the licences of all packages"
    cargo fetch --locked --quiet
    TOOL_FEATURES=cli e2e/tool.sh cargo-about 0.9.3 generate --workspace --locked --offline --fail \
        --config dm/dist/licences/about.toml dm/dist/licences/about.hbs >"$found.part"
    mv "$found.part" "$found"
fi

printf 'Deployment Manager contains the following software of others.\n\n'
cat "$found"
for library in "$1"/*.dist-info; do
    printf '\n%s\n\n' "--- Python library: $(basename "$library" .dist-info) ---"
    find "$library" -iname 'licen[cs]e*' -type f | sort | xargs cat
done

# What is in the manager's page. The first line of npm's list is the page itself.
manager/ui/run.sh shipped | tail -n +2 | while read -r package; do
    printf '\n%s\n\n' "--- JavaScript library: ${package#*/node_modules/} ---"
    find "$package" -maxdepth 1 -iname 'licen[cs]e*' -type f | sort | xargs cat
done
