package simulate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

func podOf(images ...string) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways}}
	for _, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: image, Image: image})
	}
	return pod
}

func with(pod *corev1.Pod, change func(*corev1.Pod)) *corev1.Pod {
	change(pod)
	return pod
}

func ofJob(pod *corev1.Pod) {
	pod.Spec.RestartPolicy = corev1.RestartPolicyNever
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Controller: ptr.To(true)}}
}

func initBy(image string, policy *corev1.ContainerRestartPolicy) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Image: image, RestartPolicy: policy}}
	}
}

func TestAPodIsWhatItsContainersSay(t *testing.T) {
	sidecar := ptr.To(corev1.ContainerRestartPolicyAlways)
	for name, c := range map[string]struct {
		pod    *corev1.Pod
		phase  corev1.PodPhase
		ready  bool
		reason string
	}{
		"any image":                   {podOf("nginx"), corev1.PodRunning, true, ""},
		"one of two unready":          {podOf("nginx", "simulated.invalid/unready"), corev1.PodRunning, false, ""},
		"no image":                    {podOf("simulated.invalid/no-image"), corev1.PodPending, false, "ImagePullBackOff"},
		"an unknown behaviour":        {podOf("simulated.invalid/dance"), corev1.PodPending, false, "ImagePullBackOff"},
		"slow without a delay":        {podOf("simulated.invalid/slow"), corev1.PodPending, false, "ImagePullBackOff"},
		"a crash":                     {podOf("simulated.invalid/crash"), corev1.PodRunning, false, "CrashLoopBackOff"},
		"a job":                       {with(podOf("nginx"), ofJob), corev1.PodSucceeded, false, ""},
		"a job that crashes":          {with(podOf("simulated.invalid/crash"), ofJob), corev1.PodFailed, false, ""},
		"an init container":           {with(podOf("nginx"), initBy("nginx", nil)), corev1.PodRunning, true, ""},
		"a sidecar":                   {with(podOf("nginx"), initBy("nginx", sidecar)), corev1.PodRunning, true, ""},
		"an init container hangs":     {with(podOf("nginx"), initBy("simulated.invalid/unready", nil)), corev1.PodPending, false, "PodInitializing"},
		"an init container, no image": {with(podOf("nginx"), initBy("simulated.invalid/no-image", nil)), corev1.PodPending, false, "PodInitializing"},
		"a sidecar that is not ready": {with(podOf("nginx"), initBy("simulated.invalid/unready", sidecar)), corev1.PodPending, false, "PodInitializing"},
		"the annotation wins": {with(podOf("nginx"), func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{Annotation: "unready"}
		}), corev1.PodRunning, false, ""},
		"a readiness gate": {with(podOf("nginx"), func(pod *corev1.Pod) {
			pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
		}), corev1.PodRunning, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, _ := statusAt(c.pod, start)
			var reason string
			if waiting := status.ContainerStatuses[0].State.Waiting; waiting != nil {
				reason = waiting.Reason
			}
			if status.Phase != c.phase || isReady(status) != c.ready || reason != c.reason {
				t.Errorf("got phase %s, ready %t, reason %q; want %s, %t, %q",
					status.Phase, isReady(status), reason, c.phase, c.ready, c.reason)
			}
		})
	}
}

func TestASlowPodGetsReadyAfterItsDelayAndSaysWhen(t *testing.T) {
	pod := podOf("simulated.invalid/slow:3s", "simulated.invalid/slow:5s")
	status, again := statusAt(pod, start)
	if isReady(status) || again != 3*time.Second {
		t.Fatalf("at once: ready %t, again after %s", isReady(status), again)
	}
	pod.Status = status
	status, again = statusAt(pod, metav1.NewTime(start.Add(4*time.Second)))
	if isReady(status) || again != time.Second {
		t.Fatalf("after 4s: ready %t, again after %s", isReady(status), again)
	}
	pod.Status = status
	status, again = statusAt(pod, metav1.NewTime(start.Add(5*time.Second)))
	if !isReady(status) || again != 0 {
		t.Fatalf("after 5s: ready %t, again after %s", isReady(status), again)
	}
}

// A status that changed by being reported would be reported for ever.
func TestAStatusThatWasReportedStaysTheSame(t *testing.T) {
	for _, image := range []string{"nginx", "simulated.invalid/unready", "simulated.invalid/crash", "simulated.invalid/no-image"} {
		pod := with(podOf(image), initBy("nginx", nil))
		pod.Status, _ = statusAt(pod, start)
		next, _ := statusAt(pod, metav1.NewTime(start.Add(time.Hour)))
		if !apiequality.Semantic.DeepEqual(pod.Status, next) {
			t.Errorf("%s: first %s, then %s", image, pod.Status.String(), next.String())
		}
	}
}

func isReady(status corev1.PodStatus) bool {
	for _, condition := range status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
