package main

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// kubectl takes over the process as kubectl; args[0] is the name it was called by. It reads os.Args itself (for plugins
// and for -v), hence the assignment.
func kubectl(args []string) {
	os.Args = args
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(args)) // a bad -v is reported by the parsing of flags below
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
