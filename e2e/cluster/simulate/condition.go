package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// phaseOf follows the kubelet: a container that waits for its first start keeps the pod Pending, one that waits for
// another start does not.
func phaseOf(pod *corev1.Pod, initialized bool, inits, statuses []corev1.ContainerStatus) corev1.PodPhase {
	if !initialized {
		if slices.ContainsFunc(inits, hasFailed) {
			return corev1.PodFailed
		}
		return corev1.PodPending
	}
	failed := 0
	ended := 0
	for _, status := range statuses {
		switch state := status.State; {
		case state.Waiting != nil && status.LastTerminationState.Terminated == nil:
			return corev1.PodPending
		case state.Terminated != nil:
			ended++
			if hasFailed(status) {
				failed++
			}
		}
	}
	switch {
	case ended < len(statuses) || pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return corev1.PodRunning
	case failed > 0:
		return corev1.PodFailed
	default:
		return corev1.PodSucceeded
	}
}

func hasFailed(status corev1.ContainerStatus) bool {
	return status.State.Terminated != nil && status.State.Terminated.ExitCode != 0
}

// setConditions sets the conditions that are a kubelet's; the scheduler's and others' stay as they are.
func setConditions(pod *corev1.Pod, status *corev1.PodStatus, initialized bool, now metav1.Time) {
	containersReady := initialized && !slices.ContainsFunc(status.ContainerStatuses,
		func(status corev1.ContainerStatus) bool { return !status.Ready })
	for _, condition := range []struct {
		kind   corev1.PodConditionType
		met    bool
		reason string
	}{
		{corev1.PodReadyToStartContainers, true, ""},
		{corev1.PodInitialized, initialized, "ContainersNotInitialized"},
		{corev1.ContainersReady, containersReady, "ContainersNotReady"},
		{corev1.PodReady, containersReady && gatesOpen(pod), "ContainersNotReady"},
	} {
		next := corev1.PodCondition{
			Type: condition.kind, Status: corev1.ConditionTrue,
			ObservedGeneration: pod.Generation, LastTransitionTime: now,
		}
		if !condition.met {
			next.Status, next.Reason = corev1.ConditionFalse, condition.reason
			if status.Phase == corev1.PodSucceeded {
				next.Reason = "PodCompleted"
			}
		}
		setCondition(status, next)
	}
}

// setCondition replaces the condition of the same type, whose transition time stays unless its status changes.
func setCondition(status *corev1.PodStatus, next corev1.PodCondition) {
	for i, last := range status.Conditions {
		if last.Type == next.Type {
			if last.Status == next.Status {
				next.LastTransitionTime = last.LastTransitionTime
			}
			status.Conditions[i] = next
			return
		}
	}
	status.Conditions = append(status.Conditions, next)
}

// gatesOpen reports whether the conditions that the pod's author asks for beside its containers are met.
func gatesOpen(pod *corev1.Pod) bool {
	for _, gate := range pod.Spec.ReadinessGates {
		met := slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		})
		if !met {
			return false
		}
	}
	return true
}
