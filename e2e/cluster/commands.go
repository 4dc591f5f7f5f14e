package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// pollInterval is how often a command looks at what another process does.
const pollInterval = 50 * time.Millisecond

// flags parses one command's flags, of which --dir is required everywhere.
func flags(command string, args []string, more func(*flag.FlagSet)) (directory, error) {
	set := flag.NewFlagSet("dm-cluster "+command, flag.ContinueOnError)
	dir := set.String("dir", "", "the cluster's directory (required)")
	more(set)
	if err := set.Parse(args); err != nil {
		return "", err
	}
	if *dir == "" || set.NArg() > 0 {
		return "", fmt.Errorf("%s: --dir DIR is required, and no further argument", command)
	}
	absolute, err := filepath.Abs(*dir)
	return directory(absolute), err
}

// up starts the cluster in a process of its own and returns once it is ready; if it runs already, that is enough.
func up(args []string) (int, error) {
	var timeout time.Duration
	dir, err := flags("up", args, func(set *flag.FlagSet) {
		set.DurationVar(&timeout, "timeout", time.Minute, "how long it may take until the cluster is ready")
	})
	if err != nil {
		return exitUsage, err
	}
	if err := dir.prepare(); err != nil {
		return 1, err
	}
	pid, err := dir.holder()
	if err != nil {
		return 1, err
	}
	var daemon *exec.Cmd
	if pid == 0 {
		if daemon, err = startDaemon(dir); err != nil {
			return 1, err
		}
	}
	if err := awaitReady(dir, daemon, timeout); err != nil {
		return 1, fmt.Errorf("%w\n%s\nthe whole log: %s", err, dir.logTail(), dir.log())
	}
	fmt.Println(dir.kubeconfig())
	return 0, nil
}

// startDaemon starts `dm-cluster run` detached: its own session, no terminal, its output in the directory's log.
func startDaemon(dir directory) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(dir.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	daemon := exec.Command(program, "run", "--dir", string(dir))
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Should be found even if the directory was a link, or the caller's is unmounted.
	daemon.Dir = "/"
	return daemon, daemon.Start()
}

// awaitReady waits for the kubeconfig, which the cluster writes last. A daemon that this command started is stopped if
// it takes too long; it is nil if the cluster was there before.
func awaitReady(dir directory, daemon *exec.Cmd, timeout time.Duration) error {
	ended := make(chan struct{})
	if daemon != nil {
		go func() {
			_ = daemon.Wait()
			close(ended)
		}()
	}
	deadline := time.After(timeout)
	for {
		select {
		case <-ended:
			return errors.New("the control plane ended before it was ready")
		case <-deadline:
			if daemon != nil {
				_ = daemon.Process.Kill()
			}
			return fmt.Errorf("the control plane is not ready after %s (see --timeout)", timeout)
		case <-time.After(pollInterval):
			if ready, err := isReady(dir); ready || err != nil {
				return err
			}
		}
	}
}

// isReady needs both: a kubeconfig alone is what a killed cluster left.
func isReady(dir directory) (bool, error) {
	pid, err := dir.holder()
	if err != nil || pid == 0 {
		return false, err
	}
	_, err = os.Stat(dir.kubeconfig())
	return err == nil, nil
}

// run is the cluster itself. Stopping it on purpose removes the directory; when it fails, its directory stays, so
// that its log can be read.
func run(args []string) (int, error) {
	var dieWithParent, audit bool
	dir, err := flags("run", args, func(set *flag.FlagSet) {
		set.BoolVar(&dieWithParent, "die-with-parent", false,
			"stop as soon as standard input ends: a parent that holds its other end cannot leave a cluster behind, however it dies")
		set.BoolVar(&audit, "audit", false, "keep an audit log of every write in DIR/audit.jsonl")
	})
	if err != nil {
		return exitUsage, err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	if dieWithParent {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	if err := dir.claim(); err != nil {
		return 1, err
	}
	if err := runControlPlane(ctx, dir, audit); err != nil && ctx.Err() == nil {
		return 1, err
	}
	// Nothing of it is to survive, so nothing needs an orderly end: the data goes, and the process with it.
	if err := dir.remove(); err != nil {
		return 1, err
	}
	return 0, nil
}

func status(args []string) (int, error) {
	dir, err := flags("status", args, func(*flag.FlagSet) {})
	if err != nil {
		return exitUsage, err
	}
	pid, err := dir.holder()
	if err != nil {
		return 1, err
	}
	if pid == 0 {
		fmt.Println("not running")
		return exitNotRunning, nil
	}
	if _, err := os.Stat(dir.kubeconfig()); err != nil {
		fmt.Printf("starting, process %d\n", pid)
		return 0, nil
	}
	fmt.Printf("running, process %d, kubeconfig %s\n", pid, dir.kubeconfig())
	return 0, nil
}

// down stops the cluster and removes its directory; without a cluster there is nothing to do.
func down(args []string) (int, error) {
	var timeout time.Duration
	dir, err := flags("down", args, func(set *flag.FlagSet) {
		set.DurationVar(&timeout, "timeout", 20*time.Second, "how long it may take to stop before it is killed")
	})
	if err != nil {
		return exitUsage, err
	}
	pid, err := dir.holder()
	if err != nil {
		return 1, err
	}
	if pid != 0 {
		if err := stop(pid, timeout); err != nil {
			return 1, err
		}
	}
	if _, err := os.Stat(string(dir)); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err := dir.remove(); err != nil {
		return 1, err
	}
	return 0, nil
}

// stop ends the process – kindly, then not – and waits until it is gone.
func stop(pid int, timeout time.Duration) error {
	for _, sign := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(pid, sign); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("failed to stop process %d: %w", pid, err)
		}
		for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(pollInterval) {
			if hasEnded(pid) {
				return nil
			}
		}
	}
	return fmt.Errorf("process %d does not end", pid)
}

// hasEnded does not look at the lock: its file is gone a moment before the process is. A process that nobody has reaped
// yet counts as ended, for it holds nothing any more.
func hasEnded(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(state, "Z")
}
