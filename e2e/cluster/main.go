// Command dm-cluster is the project's own local control plane: etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, unchanged, from their published modules, on loopback and in one process, with a simulated node that
// makes pods Ready. It also carries kubectl: called by that name, it is kubectl and nothing else.
//
// It refuses to know Deployment Manager: what it serves is a plain Kubernetes API.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage:
  dm-cluster up     --dir DIR [--timeout 60s]      start in the background, print the path of the kubeconfig
  dm-cluster run    --dir DIR [--die-with-parent]  run in the foreground until SIGTERM or SIGINT
                    [--audit]                      and keep an audit log of every write
  dm-cluster status --dir DIR                      running (0) or not (3)?
  dm-cluster down   --dir DIR [--timeout 20s]      stop, and remove DIR
  dm-cluster kubectl ARG…                          the kubectl of the same version
  dm-cluster etcd [--die-with-parent] ARG…         a member of a cluster of etcd alone
`

// Exit codes beside 0 and 1. notRunning is what the Linux Standard Base says for `status` of a stopped service.
const (
	exitUsage      = 2
	exitNotRunning = 3
)

func main() {
	if filepath.Base(os.Args[0]) == "kubectl" {
		kubectl(os.Args)
		return
	}
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	command, args := os.Args[1], os.Args[2:]
	switch command {
	case "kubectl":
		kubectl(os.Args[1:])
	case "etcd":
		etcd(args)
	case "up":
		exit(up(args))
	case "run":
		exit(run(args))
	case "status":
		exit(status(args))
	case "down":
		exit(down(args))
	case "help", "-h", "--help":
		fmt.Print(usage)
	default:
		fmt.Fprintf(os.Stderr, "dm-cluster: unknown command %q\n%s", command, usage)
		os.Exit(exitUsage)
	}
}

func exit(code int, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "dm-cluster:", err)
	}
	os.Exit(code)
}
