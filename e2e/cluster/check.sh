#!/bin/sh
# Proves what README.md says of the local control plane: it comes up in time and small enough, runs workloads, lets them
# fail when asked to, and is gone without trace when it is stopped or its parent dies. Prints what it measures.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
bin=$("$here/build.sh")
# Longer than a socket's path may be: a test's temporary directory often is.
scratch=$(mktemp -d)
dir=$scratch/$(printf '%0100d' 0)/cluster
second=$scratch/second
export KUBECONFIG="$dir/kubeconfig" KUBECACHEDIR="$scratch/kubectl-cache"

up_limit_ms=20000
rss_limit_kb=1572864

fail() { echo "check.sh: $*" >&2; exit 1; }
kubectl() { "$bin/kubectl" "$@"; }
millis() { echo $(($(date +%s%N) / 1000000)); }
pid_of() { "$bin/dm-cluster" status --dir "$1" | sed -n 's/.*process \([0-9]*\).*/\1/p'; }
rss_of() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status"; }
# Some conditions have no `kubectl wait`.
eventually() {
    for _ in $(seq 100); do
        "$@" && return
        sleep 0.1
    done
    fail "never came true: $*"
}
is_ended() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }
reason_is() { [ "$(kubectl get pod "$1" -o 'jsonpath={.status.containerStatuses[0].state.waiting.reason}')" = "$2" ]; }

cleanup() {
    "$bin/dm-cluster" down --dir "$dir" || true
    "$bin/dm-cluster" down --dir "$second" || true
    rm -rf "$scratch"
}
trap cleanup EXIT

echo "== up"
began=$(millis)
[ "$("$bin/dm-cluster" up --dir "$dir")" = "$KUBECONFIG" ] || fail "up does not print the kubeconfig"
up_ms=$(($(millis) - began))
pid=$(pid_of "$dir")
port=$(sed -n 's|.*https://127.0.0.1:\([0-9]*\).*|\1|p' "$KUBECONFIG")
[ "$up_ms" -lt "$up_limit_ms" ] || fail "up took $up_ms ms"
[ "$(stat -c %a "$KUBECONFIG")" = 600 ] || fail "others can read the kubeconfig"
"$bin/dm-cluster" up --dir "$dir" >/dev/null || fail "a second up is not content with the cluster that runs"
"$bin/dm-cluster" run --dir "$dir" 2>/dev/null && fail "two clusters share a directory"

echo "== workloads become ready"
kubectl create deployment web --image=example.com/web --replicas=3
began=$(millis)
kubectl rollout status deployment/web --timeout=60s
rollout_ms=$(($(millis) - began))
kubectl expose deployment web --port=80 --type=LoadBalancer
kubectl wait service/web --for='jsonpath={.status.loadBalancer.ingress[0].ip}' --timeout=30s
kubectl create job once --image=example.com/once
kubectl create cronjob often --image=example.com/often --schedule='* * * * *'
kubectl apply -f - <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  replicas: 2
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec:
      initContainers: [{name: prepare, image: example.com/prepare}]
      containers: [{name: store, image: example.com/store}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: example.com/agent}]}
YAML
kubectl wait job/once --for=condition=complete --timeout=30s
kubectl logs job/once | grep -q 'ends with exit code 0'
kubectl rollout status statefulset/store daemonset/agent --timeout=60s

echo "== workloads fail when asked to"
kubectl run missing --image=simulated.invalid/no-image
kubectl run crashing --image=simulated.invalid/crash
kubectl run never --image=simulated.invalid/unready
kubectl run slow --image=simulated.invalid/slow:2s
eventually reason_is missing ImagePullBackOff
eventually reason_is crashing CrashLoopBackOff
kubectl wait pod/never --for=jsonpath='{.status.phase}'=Running --timeout=30s
kubectl wait pod/never --for=condition=Ready --timeout=1s 2>/dev/null && fail "an unready pod is Ready"
kubectl annotate pod never simulated.invalid/behaviour=well
kubectl wait pod/never pod/slow --for=condition=Ready --timeout=30s
kubectl create job fails --image=simulated.invalid/crash -- false
kubectl patch job fails --type=merge -p '{"spec":{"backoffLimit":0}}'
kubectl wait job/fails --for=condition=failed --timeout=60s

echo "== others are not admitted as the administrator"
[ "$(kubectl auth can-i create deployments --as=nobody || true)" = no ] || fail "everybody may do everything"
[ -n "$(kubectl create token default)" ] || fail "no service account token"

echo "== deleted objects go, also their volumes and whole namespaces"
kubectl delete statefulset/store pvc/data-store-0 pvc/data-store-1 --timeout=30s
kubectl wait pv --all --for=delete --timeout=30s
kubectl create namespace short
kubectl -n short create deployment web --image=example.com/web
kubectl -n short rollout status deployment/web --timeout=30s
kubectl delete namespace short --timeout=60s
rss_kb=$(rss_of "$pid")
[ "$rss_kb" -lt "$rss_limit_kb" ] || fail "it takes $rss_kb kB"

echo "== a second cluster goes with its parent, however that dies"
mkfifo "$scratch/input"
"$bin/dm-cluster" run --dir "$second" --die-with-parent <"$scratch/input" 2>"$scratch/second.log" &
child=$!
sleep 1000 >"$scratch/input" &
parent=$!
eventually test -e "$second/kubeconfig"
kill -9 "$parent"
eventually is_ended "$child"
[ ! -e "$second" ] || fail "its directory is left"

echo "== down, without trace"
began=$(millis)
"$bin/dm-cluster" down --dir "$dir"
down_ms=$(($(millis) - began))
is_ended "$pid" || fail "the process is left"
[ ! -e "$dir" ] || fail "the directory is left"
curl -sko /dev/null "https://127.0.0.1:$port/" 2>/dev/null && fail "the port is left"
"$bin/dm-cluster" status --dir "$dir" >/dev/null && fail "status says it runs"
"$bin/dm-cluster" down --dir "$dir" || fail "down is not content with nothing to do"

echo "== a killed cluster's directory is taken over, a stranger's never"
"$bin/dm-cluster" up --dir "$second" >/dev/null
kill -9 "$(pid_of "$second")"
"$bin/dm-cluster" up --dir "$second" >/dev/null
"$bin/dm-cluster" down --dir "$second"
mkdir "$second" && touch "$second/mine"
"$bin/dm-cluster" up --dir "$second" 2>/dev/null && fail "it moved in with somebody's files"
"$bin/dm-cluster" down --dir "$second" 2>/dev/null && fail "it removed somebody's files"
[ -e "$second/mine" ] || fail "it removed somebody's file"
rm -r "$second"

echo "up $up_ms ms, rollout of 3 replicas $rollout_ms ms, peak resident $((rss_kb / 1024)) MiB, down $down_ms ms"
