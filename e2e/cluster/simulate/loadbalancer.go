package simulate

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// loadBalancer gives an address to every service of type LoadBalancer, and takes it back from those that are none any
// more. The addresses are of 198.18.0.0/15, which RFC 2544 sets aside for benchmarks: nobody answers there.
type loadBalancer struct {
	clients   kubernetes.Interface
	addresses atomic.Uint32
}

func (b *loadBalancer) sync(ctx context.Context, service *corev1.Service) (time.Duration, error) {
	wanted := service.Spec.Type == corev1.ServiceTypeLoadBalancer
	given := len(service.Status.LoadBalancer.Ingress) > 0
	if wanted == given || service.DeletionTimestamp != nil {
		return 0, nil
	}
	service = service.DeepCopy()
	service.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	if wanted {
		number := b.addresses.Add(1) % 65_000
		service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{
			IP:     fmt.Sprintf("198.18.%d.%d", number>>8, number&0xff),
			IPMode: ptr.To(corev1.LoadBalancerIPModeVIP),
		}}
	}
	_, err := b.clients.CoreV1().Services(service.Namespace).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}
