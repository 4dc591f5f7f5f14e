package main

import (
	"io"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

// etcd is a member of a cluster of its own, as etcd publishes it: with a disk and over TCP. The tests of the manager's
// store on etcd talk to it; the control plane embeds another one. With --die-with-parent as its first argument it ends
// when standard input ends.
func etcd(args []string) {
	if len(args) > 0 && args[0] == "--die-with-parent" {
		args = args[1:]
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	etcdmain.Main(append([]string{"etcd"}, args...))
	os.Exit(0)
}
