package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli/flag"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	apiserveroptions "k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	controllermanageroptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	scheduleroptions "k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// The components are started as their own commands would start them, from flags – but through their Options and Run, not
// through their cobra commands: each of those installs a signal handler, and the second one in a process panics.

// etcdSocket is relative to the cluster's directory, which is the process's working directory: a socket's whole path
// may have 108 bytes, and temporary directories are longer. A socket needs no free port, and no other user can open it.
const etcdSocket = "unix://etcd.sock"

// startEtcd starts etcd and returns once it serves. What is stored need not survive, so it never waits for the disk.
func startEtcd(ctx context.Context, dir directory) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir.path("etcd")
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Host: "etcd.sock"}}
	config.ListenPeerUrls = []url.URL{{Scheme: "unix", Host: "etcd-peer.sock"}}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("failed to start etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err := <-server.Err():
		return nil, fmt.Errorf("etcd failed: %w", err)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// runAPIServer serves on the listener until the context ends. `more` are further flags.
func runAPIServer(ctx context.Context, listener net.Listener, files credentials, more []string) error {
	options := apiserveroptions.NewServerRunOptions()
	err := parse(options.Flags(), append(more,
		"--etcd-servers="+etcdSocket,
		"--bind-address=127.0.0.1",
		// Loopback is no address that others could use, so nothing is published under it.
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		// The simulated kubelet is on loopback, which the node has as its external address.
		"--kubelet-preferred-address-types=ExternalIP",
		"--authorization-mode=RBAC",
		"--client-ca-file="+files.caCert,
		"--tls-cert-file="+files.servingCert,
		"--tls-private-key-file="+files.servingKey,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+files.serviceAccountKey,
		"--service-account-signing-key-file="+files.serviceAccountKey,
	)...)
	if err != nil {
		return err
	}
	options.SecureServing.Listener = listener
	// The other components share this registry of feature gates and versions, and find it set.
	if err := options.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	completed, err := options.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) > 0 {
		return fmt.Errorf("invalid flags: %v", errs)
	}
	return apiserver.Run(ctx, completed)
}

// idleControllers are the controllers that have nothing to do here: there is no cloud, no kubelet that attaches volumes
// or asks for certificates, no metrics to scale by, and nothing lives long enough to be cleaned up after weeks.
var idleControllers = []string{
	names.CertificateSigningRequestApprovingController,
	names.CertificateSigningRequestCleanerController,
	names.CertificateSigningRequestSigningController,
	names.DeviceTaintEvictionController,
	names.HorizontalPodAutoscalerController,
	names.KubeAPIServerClusterTrustBundlePublisherController,
	names.LegacyServiceAccountTokenCleanerController,
	names.NodeIpamController,
	names.PersistentVolumeAttachDetachController,
	names.PersistentVolumeExpanderController,
	names.PodCertificateRequestCleanerController,
	names.ResourceClaimController,
	names.StorageVersionGarbageCollectorController,
	names.StorageVersionMigratorController,
	names.TTLController,
}

func runControllerManager(ctx context.Context, files credentials) error {
	options, err := controllermanageroptions.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, disabled, aliases := controllermanager.KnownControllers(), controllermanager.ControllersDisabledByDefault(), controllermanager.ControllerAliases()
	err = parse(options.Flags(known, disabled, aliases),
		"--kubeconfig="+files.adminKubeconfig,
		"--controllers=*,-"+strings.Join(idleControllers, ",-"),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
		"--root-ca-file="+files.caCert,
		"--service-account-private-key-file="+files.serviceAccountKey,
		// The node is in this very process: when its heartbeat is late, the machine is busy and nothing else.
		"--node-monitor-grace-period=10m",
	)
	if err != nil {
		return err
	}
	config, err := options.Config(ctx, known, disabled, aliases)
	if err != nil {
		return err
	}
	return controllermanager.Run(ctx, config.Complete())
}

func runScheduler(ctx context.Context, files credentials) error {
	options := scheduleroptions.NewOptions()
	err := parse(*options.Flags,
		"--kubeconfig="+files.adminKubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	)
	if err != nil {
		return err
	}
	config, instance, err := scheduler.Setup(ctx, options)
	if err != nil {
		return err
	}
	return scheduler.Run(ctx, config, instance)
}

func parse(sets flag.NamedFlagSets, args ...string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, set := range sets.FlagSets {
		all.AddFlagSet(set)
	}
	return all.Parse(args)
}
