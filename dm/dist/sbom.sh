#!/usr/bin/env bash
# Prints the bill of materials as CycloneDX. The same commit has the same one: it carries the commit's time, and no random number.
source "$(dirname "$0")/settings.sh"

e2e/tool.sh cargo-sbom 0.10.0 --output-format cyclone_dx_json_1_6 | python3 dm/dist/sbom.py expandybird/worker/requirements.txt
