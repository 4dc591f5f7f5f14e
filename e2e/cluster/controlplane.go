package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"deployment-manager/e2e/cluster/simulate"
)

// gcPercent trades processor time for memory: most of the heap is caches that only grow, and the tests need the memory.
const gcPercent = 50

// runControlPlane runs everything until the context ends or a component fails. Once all is ready it writes the
// kubeconfig, which is what others wait for.
func runControlPlane(ctx context.Context, dir directory, audit bool) error {
	debug.SetGCPercent(gcPercent)
	// Warnings of the API server are for people who use old APIs, not for its own components.
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	if err := os.Chdir(string(dir)); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	files, err := writeCredentials(dir, "https://"+listener.Addr().String())
	if err != nil {
		return err
	}
	var auditFlags []string
	if audit {
		if auditFlags, err = writeAuditPolicy(dir); err != nil {
			return err
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", files.adminKubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 500, 1000
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	failed := make(chan error, 5)
	start := func(name string, component func() error) {
		go func() { failed <- fmt.Errorf("%s ended: %w", name, component()) }()
	}
	etcd, err := startEtcd(ctx, dir)
	if err != nil {
		return err
	}
	start("etcd", func() error { return <-etcd.Err() })
	start("kube-apiserver", func() error { return runAPIServer(ctx, listener, files, auditFlags) })
	if err := await(ctx, failed, func() bool { return isServing(ctx, clients) }); err != nil {
		return err
	}
	start("kube-controller-manager", func() error { return runControllerManager(ctx, files) })
	start("kube-scheduler", func() error { return runScheduler(ctx, files) })
	start("simulated node", func() error { return simulate.Run(ctx, clients) })
	if err := await(ctx, failed, func() bool { return isUsable(ctx, clients) }); err != nil {
		return err
	}
	if err := os.Link(files.adminKubeconfig, dir.kubeconfig()); err != nil {
		return err
	}
	return await(ctx, failed, func() bool { return false })
}

// await polls until the condition holds, a component fails or the context ends.
func await(ctx context.Context, failed <-chan error, condition func() bool) error {
	for {
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
			if condition() {
				return nil
			}
		}
	}
}

func isServing(ctx context.Context, clients kubernetes.Interface) bool {
	return clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// isUsable reports whether a pod that is created now would run: its service account is there, and so is a node that takes it.
func isUsable(ctx context.Context, clients kubernetes.Interface) bool {
	_, err := clients.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return false
	}
	node, err := clients.CoreV1().Nodes().Get(ctx, simulate.NodeName, metav1.GetOptions{})
	if err != nil || len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
