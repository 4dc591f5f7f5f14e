package simulate

import (
	"context"
	"runtime"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// NodeName is the name of the one node.
const NodeName = "simulated-node"

// nodeIP is the address of the node and of pods on its network; it is in the range of the pods' addresses, see podIP.
const nodeIP = "10.244.0.1"

// kubeletIP is where the API server reaches the node's kubelet, which is a part of this process.
const kubeletIP = "127.0.0.1"

const (
	heartbeatInterval = 10 * time.Second
	leaseSeconds      = 40
)

// registerNode creates the node, ready from the start. It has room for whatever the tests ask for. `kubelet` is the port
// that answers for its containers.
func registerNode(ctx context.Context, clients kubernetes.Interface, kubelet int32) error {
	room := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("1000"),
		corev1.ResourceMemory:           resource.MustParse("10Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Ti"),
		corev1.ResourcePods:             resource.MustParse("10000"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: NodeName, Labels: map[string]string{
			corev1.LabelHostname:   NodeName,
			corev1.LabelOSStable:   "linux",
			corev1.LabelArchStable: runtime.GOARCH,
		}},
		Status: corev1.NodeStatus{
			Capacity:    room,
			Allocatable: room,
			Conditions:  nodeConditions(metav1.Now()),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: nodeIP},
				{Type: corev1.NodeHostName, Address: NodeName},
				{Type: corev1.NodeExternalIP, Address: kubeletIP},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubelet}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          version.Get().GitVersion,
				ContainerRuntimeVersion: "simulated://1",
				OperatingSystem:         "linux",
				Architecture:            runtime.GOARCH,
			},
		},
	}
	_, err := clients.CoreV1().Nodes().Create(ctx, node, created)
	return err
}

func nodeConditions(now metav1.Time) []corev1.NodeCondition {
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, LastHeartbeatTime: now, LastTransitionTime: now}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeReady, corev1.ConditionTrue, "Simulated"),
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "Simulated"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "Simulated"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "Simulated"),
	}
}

// heartbeat renews the node's lease until the context ends. A renewal that fails is made up for by the next.
func heartbeat(ctx context.Context, clients kubernetes.Interface) error {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		if err := renewLease(ctx, clients); err != nil {
			klog.InfoS("Failed to renew the node's lease", "err", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func renewLease(ctx context.Context, clients kubernetes.Interface) error {
	leases := clients.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	now := metav1.NowMicro()
	lease, err := leases.Get(ctx, NodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: NodeName},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity:       ptr.To(NodeName),
				LeaseDurationSeconds: ptr.To[int32](leaseSeconds),
				RenewTime:            &now,
			},
		}, created)
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
