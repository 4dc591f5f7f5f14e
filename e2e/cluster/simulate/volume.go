package simulate

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

const (
	storageClass = "standard"
	// provisionerName is how classes ask for this provisioner, and how it recognizes its volumes.
	provisionerName = "simulated.invalid/provisioner"

	annotationProvisioner   = "volume.kubernetes.io/storage-provisioner"
	annotationProvisionedBy = "pv.kubernetes.io/provisioned-by"
	annotationDefaultClass  = "storageclass.kubernetes.io/is-default-class"
)

// createStorageClass creates the class of all claims that name none.
func createStorageClass(ctx context.Context, clients kubernetes.Interface) error {
	_, err := clients.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:    metav1.ObjectMeta{Name: storageClass, Annotations: map[string]string{annotationDefaultClass: "true"}},
		Provisioner:   provisionerName,
		ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete),
	}, created)
	return err
}

// provisioner makes volumes for claims, and removes those whose claim is gone. Binding the two, and telling which claims
// want a volume made, is the controller manager's.
type provisioner struct {
	clients kubernetes.Interface
}

func (p *provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) (time.Duration, error) {
	if claim.Annotations[annotationProvisioner] != provisionerName || claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil {
		return 0, nil
	}
	_, err := p.clients.CoreV1().PersistentVolumes().Create(ctx, volumeFor(claim), created)
	if apierrors.IsAlreadyExists(err) {
		return 0, nil
	}
	return 0, err
}

func volumeFor(claim *corev1.PersistentVolumeClaim) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{annotationProvisionedBy: provisionerName}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes:                   claim.Spec.AccessModes,
			Capacity:                      claim.Spec.Resources.Requests,
			StorageClassName:              ptr.Deref(claim.Spec.StorageClassName, ""),
			VolumeMode:                    claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			// A path that no container will ever open.
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/nonexistent/" + name},
			},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
}

func (p *provisioner) reclaim(ctx context.Context, volume *corev1.PersistentVolume) (time.Duration, error) {
	if volume.Annotations[annotationProvisionedBy] != provisionerName ||
		volume.Status.Phase != corev1.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete ||
		volume.DeletionTimestamp != nil {
		return 0, nil
	}
	err := p.clients.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return 0, nil
	}
	return 0, err
}
