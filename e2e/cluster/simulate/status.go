package simulate

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// restarts is how often a container that crashes is said to have been restarted.
const restarts = 3

// statusAt is the status a kubelet would report for the pod at this time, given the status it reported last, and after
// how long it will be another one by itself (0: never). It is a function of its arguments alone.
func statusAt(pod *corev1.Pod, now metav1.Time) (corev1.PodStatus, time.Duration) {
	next := *pod.Status.DeepCopy()
	next.ObservedGeneration = pod.Generation
	if next.StartTime == nil {
		next.StartTime = &now
	}
	containers := containers{pod: pod, now: now}
	initialized := containers.initialize()
	next.InitContainerStatuses = containers.initStatuses
	next.ContainerStatuses = containers.run(initialized)
	next.Phase = phaseOf(pod, initialized, containers.initStatuses, next.ContainerStatuses)
	setConditions(pod, &next, initialized, now)
	return next, containers.again
}

// containers goes through a pod's containers in the order in which they start.
type containers struct {
	pod          *corev1.Pod
	now          metav1.Time
	initStatuses []corev1.ContainerStatus
	// again is the shortest time after which a container will change by itself.
	again time.Duration
}

// initialize fills initStatuses and reports whether all is ready for the containers proper. Each init container waits for
// the one before it to end, or, if that one is a sidecar, to start.
func (c *containers) initialize() bool {
	done := true
	for _, container := range c.pod.Spec.InitContainers {
		sidecar := ptr.Deref(container.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		status := initializing(container)
		if done {
			status = c.status(container, !sidecar)
			if sidecar {
				done = status.Ready
			} else {
				done = status.State.Terminated != nil && status.State.Terminated.ExitCode == 0
				status.Ready = done
			}
		}
		c.initStatuses = append(c.initStatuses, status)
	}
	return done
}

// run is the status of the containers proper. Only those of a Job are expected to end.
func (c *containers) run(initialized bool) []corev1.ContainerStatus {
	owner := metav1.GetControllerOf(c.pod)
	ends := owner != nil && owner.Kind == "Job"
	var statuses []corev1.ContainerStatus
	for _, container := range c.pod.Spec.Containers {
		status := initializing(container)
		if initialized {
			status = c.status(container, ends)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func initializing(container corev1.Container) corev1.ContainerStatus {
	return waiting(container, "PodInitializing", "")
}

// status is one container's, which has been started; `ends` says whether it is one that does its work and ends. A
// container that has ended is not started again.
func (c *containers) status(container corev1.Container, ends bool) corev1.ContainerStatus {
	last := c.reported(container.Name)
	if last.State.Terminated != nil {
		return last
	}
	started := c.now
	if last.State.Running != nil {
		started = last.State.Running.StartedAt
	}
	behaviour, err := behaviourOf(c.pod, container)
	switch behaviour.kind {
	case noImage:
		return waiting(container, "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: %v", container.Image, err))
	case crash:
		return c.crashed(container, started, last)
	case unready:
		return running(container, started, false)
	case slow:
		if left := started.Add(behaviour.delay).Sub(c.now.Time); left > 0 {
			if c.again == 0 || left < c.again {
				c.again = left
			}
			return running(container, started, false)
		}
	}
	if ends {
		return terminated(container, started, c.now, 0)
	}
	return running(container, started, true)
}

func (c *containers) crashed(container corev1.Container, started metav1.Time, last corev1.ContainerStatus) corev1.ContainerStatus {
	failed := terminated(container, started, c.now, 1)
	if c.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		return failed
	}
	status := waiting(container, "CrashLoopBackOff", "back-off restarting failed container "+container.Name)
	status.RestartCount = restarts
	status.LastTerminationState = failed.State
	if last.LastTerminationState.Terminated != nil {
		status.LastTerminationState = last.LastTerminationState
	}
	return status
}

// reported is the status of the container as it was reported last, or an empty one.
func (c *containers) reported(name string) corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{c.pod.Status.InitContainerStatuses, c.pod.Status.ContainerStatuses} {
		for _, status := range statuses {
			if status.Name == name {
				return status
			}
		}
	}
	return corev1.ContainerStatus{}
}

func waiting(container corev1.Container, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, Started: ptr.To(false),
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}
}

func running(container corev1.Container, started metav1.Time, ready bool) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, ImageID: container.Image, ContainerID: containerID(container),
		Started: ptr.To(true), Ready: ready,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
	}
}

func terminated(container corev1.Container, started, ended metav1.Time, exitCode int32) corev1.ContainerStatus {
	reason := "Completed"
	if exitCode != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, ImageID: container.Image, ContainerID: containerID(container),
		Started: ptr.To(false),
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: exitCode, Reason: reason, StartedAt: started, FinishedAt: ended, ContainerID: containerID(container),
		}},
	}
}

func containerID(container corev1.Container) string {
	return "simulated://" + container.Name
}
