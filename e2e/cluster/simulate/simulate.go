// Package simulate plays the parts of a cluster that need machines: one node that "runs" whatever pods the scheduler
// gives it, a provisioner of volumes, and a load balancer.
//
// It changes the API's objects as a kubelet and a cloud would, says what a container's log would be, and does nothing else: no container runs, no byte is
// stored, no packet is answered. How a pod behaves is in its image or an annotation, see behaviour.
package simulate

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
)

// Run registers the node and keeps it and its pods, the volumes and the load balancers going until the context ends.
func Run(ctx context.Context, clients kubernetes.Interface) error {
	informers := informers.NewSharedInformerFactory(clients, 0)
	core := informers.Core().V1()
	pods := podRunner{clients: clients}
	volumes := provisioner{clients: clients}
	balancer := loadBalancer{clients: clients}
	for _, err := range []error{
		watch(ctx, core.Pods().Informer(), pods.sync),
		watch(ctx, core.PersistentVolumeClaims().Informer(), volumes.provision),
		watch(ctx, core.PersistentVolumes().Informer(), volumes.reclaim),
		watch(ctx, core.Services().Informer(), balancer.sync),
	} {
		if err != nil {
			return err
		}
	}
	if err := createStorageClass(ctx, clients); err != nil {
		return fmt.Errorf("failed to create the default storage class: %w", err)
	}
	listener, kubelet, err := listenForLogs()
	if err != nil {
		return fmt.Errorf("failed to listen for requests of logs: %w", err)
	}
	if err := registerNode(ctx, clients, kubelet); err != nil {
		return fmt.Errorf("failed to register the node: %w", err)
	}
	informers.Start(ctx.Done())
	logs, failed := logServer{clients: clients}, make(chan error, 2)
	go func() { failed <- logs.serve(ctx, listener) }()
	go func() { failed <- heartbeat(ctx, clients) }()
	return <-failed
}

// created are the options of every creation.
var created = metav1.CreateOptions{}
