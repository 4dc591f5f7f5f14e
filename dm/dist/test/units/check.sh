# Runs in the container of units.sh, after its boot: every line must succeed.
set -euxo pipefail
export HOME=/root

declare -A port=([manager]=8080 [expandybird]=8081 [resourcifier]=8082)

answers() { # SERVICE
    curl --silent --show-error --fail --output /dev/null --retry 60 --retry-delay 1 --retry-all-errors "http://127.0.0.1:${port[$1]}/healthz"
}

property() { # SERVICE PROPERTY
    systemctl show --value --property "$2" "deployment-manager-$1.service"
}

show_failure() {
    systemctl --no-pager --full status 'deployment-manager*'
    journalctl --no-pager --lines 50 --unit 'deployment-manager*'
}
trap show_failure ERR

for service in manager expandybird resourcifier; do answers "$service"; done

# The manager finds the bundled templates and, with their token, the other services. Nobody else is let in.
dm templates | grep -q '^default  *redis '
dm expand /check/templates/greetings.yaml >/check/expansion
grep -q 'greeting: from Jinja' /check/expansion
grep -q 'greeting: from Python' /check/expansion
for service in expandybird resourcifier; do
    [ "$(curl --silent --output /dev/null --write-out '%{http_code}' "http://127.0.0.1:${port[$service]}/metrics")" = 401 ]
done

[ "$(stat --format='%U %a' /var/lib/deployment-manager/store.key)" = "deployment-manager 600" ]
[ "$(stat --format='%U %a' /etc/deployment-manager/service-token)" = "root 600" ]
for service in expandybird resourcifier; do
    [ "$(property "$service" DynamicUser)" = yes ]
done

echo secret | dm setcredential kept
for service in manager expandybird resourcifier; do
    systemctl kill --signal=KILL "deployment-manager-$service"
    until [ "$(property "$service" NRestarts)" = 1 ]; do sleep 0.2; done
    answers "$service"
done
dm getcredential | grep -q kept

systemctl stop deployment-manager.target
for service in manager expandybird resourcifier; do
    until [ "$(property "$service" ActiveState)" != deactivating ]; do sleep 0.2; done
    [ "$(property "$service" ActiveState) $(property "$service" Result)" = "inactive success" ]
done
