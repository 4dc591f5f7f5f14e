#!/usr/bin/env bash
# Types the commands of the recording in the README, as somebody would. docs/images/README.md says how to record.
set -euo pipefail

run() {
    local i
    printf '\033[32m$\033[0m '
    for ((i = 0; i < ${#1}; i++)); do
        printf '%s' "${1:i:1}"
        sleep 0.04
    done
    sleep 0.4
    echo
    eval "$1" || true
    sleep 1.5
}

run 'dm deploy replicatedservice:v1 --name web --set replicas=3'
run 'dm update web --set image=simulated.invalid/no-image'
run 'dm rollback web 1'
run 'dm diff web --set replicas=5'
run 'dm update web --set replicas=5'
run 'dm status web'
run 'dm delete web'
