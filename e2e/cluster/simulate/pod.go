package simulate

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// podRunner plays the kubelet: it reports the status that pods bound to the node would have, and lets go of those that
// are deleted.
type podRunner struct {
	clients kubernetes.Interface
	// addresses counts the pods' addresses given so far.
	addresses atomic.Uint32
}

func (r *podRunner) sync(ctx context.Context, pod *corev1.Pod) (time.Duration, error) {
	if pod.Spec.NodeName != NodeName {
		return 0, nil
	}
	if pod.DeletionTimestamp != nil {
		return 0, r.release(ctx, pod)
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return 0, nil
	}
	pod = pod.DeepCopy()
	if pod.Status.PodIP == "" {
		r.assignAddress(pod)
	}
	next, again := statusAt(pod, metav1.Now())
	if apiequality.Semantic.DeepEqual(pod.Status, next) {
		return again, nil
	}
	pod.Status = next
	_, err := r.clients.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return again, err
}

// release ends a pod's graceful deletion: there is nothing to wait for. With a finalizer the pod stays, and its grace
// period, 0 now, says that this was done.
func (r *podRunner) release(ctx context.Context, pod *corev1.Pod) error {
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 0) == 0 {
		return nil
	}
	err := r.clients.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0),
		Preconditions:      &metav1.Preconditions{UID: &pod.UID},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// assignAddress gives the pod the next address of 10.244.0.0/16, after the node's own. They repeat after 65,000 pods.
func (r *podRunner) assignAddress(pod *corev1.Pod) {
	ip := nodeIP
	if !pod.Spec.HostNetwork {
		number := r.addresses.Add(1)%65_000 + 1
		ip = fmt.Sprintf("10.244.%d.%d", number>>8, number&0xff)
	}
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	pod.Status.HostIP, pod.Status.HostIPs = nodeIP, []corev1.HostIP{{IP: nodeIP}}
}
