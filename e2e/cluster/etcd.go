package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// etcd is a member of a cluster of its own, as etcd publishes it: with a disk and over TCP. The tests of the manager's
// store on etcd talk to it; the control plane embeds another one.
func etcd(args []string) {
	etcdmain.Main(append([]string{"etcd"}, args...))
	os.Exit(0)
}
