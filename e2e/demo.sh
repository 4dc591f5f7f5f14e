#!/usr/bin/env bash
# The demonstration: `demo.sh up` goes from built programs to ready pods, `demo.sh down` stops all that it started.
#
# By default it has a control plane of its own. With CLUSTER=current it uses the current context of your kubeconfig,
# and only then: nobody's production is touched unasked.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=${BIN:-target/debug}
state=target/demo
cluster=${CLUSTER:-own}

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

show() {
    say "\$ $*"
    "$@"
}

# free PORT – the port if nobody listens on it, else 0, which means any free one.
free() {
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then echo 0; else echo "$1"; fi
}

# start SERVICE PORT FLAG... – in the background; waits for its port file, or shows its log if it ended.
start() {
    local service=$1 port=$2
    shift 2
    rm -f "$state/$service.port"
    "$bin/$service" --listen "127.0.0.1:$(free "$port")" --port-file "$state/$service.port" "$@" \
        </dev/null >"$state/$service.log" 2>&1 &
    echo $! >"$state/$service.pid"
    disown
    while [ ! -e "$state/$service.port" ]; do
        if ! kill -0 "$(cat "$state/$service.pid")" 2>/dev/null; then
            echo "demo: $service did not start:" >&2
            cat "$state/$service.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

url() { echo "http://127.0.0.1:$(cat "$state/$1.port")"; }

stop() {
    local pid_file=$state/$1.pid pid
    [ -e "$pid_file" ] || return 0
    pid=$(cat "$pid_file")
    # Another process may have the id now.
    if [ "$(ps -o comm= -p "$pid" 2>/dev/null)" = "$1" ]; then
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    fi
    rm -f "$pid_file"
}

# The manager accepts folders below this one as registries.
registries=${REGISTRIES:-$HOME}
case $PWD/ in
"$registries"/*) ;;
*) [ -n "${REGISTRIES:-}" ] || registries=$PWD ;;
esac

# A folder as a registry, for what you publish.
own_registry() {
    case $PWD/ in
    "$registries"/*)
        mkdir -p "$state/templates"
        "$bin/dm" createregistry own "$PWD/$state/templates" --type directory >/dev/null
        ;;
    esac
}

how_to_publish() {
    [ -d "$state/templates" ] || return 0
    cat <<TEXT

To publish a template of your own to the registry "own", and to deploy it from there:

  dm init hello --dir $PWD/$state
  dm publish $PWD/$state/hello/v1 $PWD/$state/templates
  dm deploy own/hello:v1 --name hello
TEXT
}

cluster_up() {
    local built
    built=$(e2e/cluster/build.sh)
    kubectl=$built/kubectl
    if [ "$cluster" = current ]; then
        kubeconfig=${KUBECONFIG:-$HOME/.kube/config}
        return
    fi
    say "Starting the local control plane"
    kubeconfig=$("$built/dm-cluster" up --dir "$PWD/$state/cluster")
    echo "$built" >"$state/built"
}

up() {
    down quietly
    mkdir -p "$state"
    cluster_up
    say "Starting expandybird, resourcifier and manager"
    start expandybird 8081
    start resourcifier 8082 --kubectl "$kubectl" --kubeconfig "$kubeconfig"
    start manager 8080 --store "sled:$state/store" --expander-url "$(url expandybird)" --deployer-url "$(url resourcifier)" \
        --registry-folder "$registries" --drift-interval 1m
    DM_SERVICE=$(url manager)
    export DM_SERVICE
    own_registry
    show "$bin/dm" deploy replicatedservice:v1 --name web --set replicas=3,config.greeting=hello
    show "$bin/dm" layout web
    show "$bin/dm" status web
    show "$bin/dm" deployed-instances Service
    say "\$ kubectl get pods"
    KUBECONFIG=$kubeconfig KUBECACHEDIR=$PWD/$state/kubectl-cache "$kubectl" get pods
    cat <<TEXT

It runs. Look at it: $DM_SERVICE/ui/

To go on:

  export DM_SERVICE=$DM_SERVICE PATH=$PWD/$bin:$(dirname "$kubectl"):\$PATH
  export KUBECONFIG=$kubeconfig KUBECACHEDIR=$PWD/$state/kubectl-cache
  dm templates                                        # what else can be deployed
  dm describe guestbook:v1                            # what a template takes
  dm update web --set replicas=5                      # all other properties stay
  dm events web                                       # what the cluster noted; dm logs web: what the pods wrote
  dm history web                                      # then for example: dm rollback web 1
  dm delete web
  kubectl get all
TEXT
    how_to_publish
    echo
    echo "Logs are in $state/*.log; \`make demo-down\` stops everything."
}

down() {
    stop manager
    stop resourcifier
    stop expandybird
    if [ -e "$state/built" ]; then
        "$(cat "$state/built")/dm-cluster" down --dir "$PWD/$state/cluster"
    fi
    if [ "$cluster" = current ] && [ -d "$state/store" ] && [ "${1:-}" != quietly ]; then
        echo "demo: what was deployed to your own cluster is left there; the record of it stays in $state/store" >&2
        return
    fi
    rm -rf "$state"
}

case ${1:-} in
up) up ;;
down) down ;;
*)
    echo "usage: demo.sh up|down" >&2
    exit 2
    ;;
esac
