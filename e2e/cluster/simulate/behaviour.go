package simulate

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// What a container does is said by its image, `simulated.invalid/BEHAVIOUR[:DELAY]`, or, for all containers of a pod and
// over their images, by the pod's annotation `simulated.invalid/behaviour: BEHAVIOUR[:DELAY]`, which may change while the
// pod runs. Any other image is of a container that starts at once and is ready at once.
const (
	imagePrefix = "simulated.invalid/"
	// Annotation is the name of the annotation.
	Annotation = imagePrefix + "behaviour"
)

// behaviour is one container's: the kind, and for slow the delay.
type behaviour struct {
	kind  kind
	delay time.Duration
}

type kind string

const (
	well    kind = "well"     // ready at once; ends well at once where ending is expected
	slow    kind = "slow"     // the same, DELAY after its start
	unready kind = "unready"  // runs, but never gets ready and never ends
	crash   kind = "crash"    // ends with exit code 1, again and again where it is restarted
	noImage kind = "no-image" // never starts, its image cannot be pulled
)

// behaviourOf reads a container's behaviour. What it cannot read is an image that cannot be pulled, and the error is why.
func behaviourOf(pod *corev1.Pod, container corev1.Container) (behaviour, error) {
	text, annotated := pod.Annotations[Annotation]
	if !annotated {
		var simulated bool
		if text, simulated = strings.CutPrefix(container.Image, imagePrefix); !simulated {
			return behaviour{kind: well}, nil
		}
	}
	name, delay, _ := strings.Cut(text, ":")
	switch kind := kind(name); kind {
	case slow:
		duration, err := time.ParseDuration(delay)
		if err != nil {
			return behaviour{kind: noImage}, fmt.Errorf("slow needs a delay, as in slow:3s: %w", err)
		}
		return behaviour{kind, duration}, nil
	case well, unready, crash:
		return behaviour{kind: kind}, nil
	case noImage:
		return behaviour{kind: noImage}, fmt.Errorf("image %q does not exist", container.Image)
	default:
		return behaviour{kind: noImage}, fmt.Errorf("there is no behaviour %q", name)
	}
}
