package simulate

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// lookInterval is the pause between two looks at a pod whose log is followed.
const lookInterval = 200 * time.Millisecond

// logServer is the part of a kubelet that the API server reads logs from. Nothing runs, so a container's log is what the
// simulation makes of it: one line when it starts, and one when it ends.
type logServer struct {
	clients kubernetes.Interface
}

// listenForLogs opens the port that the node names as its kubelet's.
func listenForLogs() (net.Listener, int32, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, 0, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := tls.Listen("tcp", kubeletIP+":0", config)
	if err != nil {
		return nil, 0, err
	}
	return listener, int32(listener.Addr().(*net.TCPAddr).Port), nil
}

// serve answers until the context ends.
func (s *logServer) serve(ctx context.Context, listener net.Listener) error {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.answer)
	server := http.Server{Handler: routes, BaseContext: func(net.Listener) context.Context { return ctx }}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

func (s *logServer) answer(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	name := request.PathValue("container")
	look := func() (*corev1.ContainerStatus, error) {
		pods := s.clients.CoreV1().Pods(request.PathValue("namespace"))
		pod, err := pods.Get(request.Context(), request.PathValue("pod"), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		all := containers{pod: pod}
		status := all.reported(name)
		return &status, nil
	}
	status, err := look()
	if err != nil {
		http.Error(out, err.Error(), http.StatusNotFound)
		return
	}
	lines, ended := logOf(status, query.Get("previous") == "true")
	if lines == nil {
		http.Error(out, fmt.Sprintf("there is no log of container %q", name), http.StatusBadRequest)
		return
	}
	written := 0
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil {
		written = max(0, len(lines)-tail)
	}
	write := func(lines []logLine) {
		for _, line := range lines[min(written, len(lines)):] {
			line.write(out, query.Get("timestamps") == "true")
		}
		written = max(written, len(lines))
		out.(http.Flusher).Flush()
	}
	write(lines)
	for query.Get("follow") == "true" && !ended {
		select {
		case <-request.Context().Done():
			return
		case <-time.After(lookInterval):
		}
		if status, err = look(); apierrors.IsNotFound(err) {
			return
		}
		if err == nil {
			lines, ended = logOf(status, false)
			write(lines)
		}
	}
}

type logLine struct {
	at   time.Time
	text string
}

func (l logLine) write(out http.ResponseWriter, timestamps bool) {
	if timestamps {
		fmt.Fprint(out, l.at.UTC().Format(time.RFC3339Nano), " ")
	}
	fmt.Fprintln(out, l.text)
}

// logOf is the log of a container's run, or of the run before, and whether it has ended. There is none of a container that
// never started.
func logOf(status *corev1.ContainerStatus, previous bool) ([]logLine, bool) {
	started := func(at metav1.Time) logLine {
		return logLine{at.Time, fmt.Sprintf("container %s starts (simulated)", status.Name)}
	}
	run := status.State.Terminated
	if before := status.LastTerminationState.Terminated; previous || (before != nil && status.State.Waiting != nil) {
		run = before
	}
	switch {
	case run != nil:
		end := fmt.Sprintf("container %s ends with exit code %d (simulated)", status.Name, run.ExitCode)
		return []logLine{started(run.StartedAt), {run.FinishedAt.Time, end}}, true
	case previous || status.State.Running == nil:
		return nil, true
	}
	return []logLine{started(status.State.Running.StartedAt)}, false
}

// selfSigned is a certificate for the server. The API server checks a kubelet's only if a flag asks for it.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{NodeName},
		IPAddresses:  []net.IP{net.ParseIP(kubeletIP)},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
