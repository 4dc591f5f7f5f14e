#!/bin/sh
# Checks the template without a manager: no mistakes, and the same result as before.
# After a change that is meant, write the result again: ./test.sh --write
set -eu
cd "$(dirname "$0")"
dm lint v1
result=$(dm expand --local v1/FILE --name NAME --set replicas=2)
if [ "${1:-}" = --write ]; then
    printf '%s\n' "$result" >expected.yaml
fi
printf '%s\n' "$result" | diff -u expected.yaml -
echo "NAME: the result is as expected"
