package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// directory has everything that one cluster writes. The holder of the lock on its lock file is the cluster. The lock ends
// with the process, so a directory without one was left behind by a killed cluster. The lock file also marks a directory
// that may be emptied: no other is ever changed.
type directory string

const lockName = "dm-cluster.lock"

func (d directory) path(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}
func (d directory) kubeconfig() string { return d.path("kubeconfig") }
func (d directory) log() string        { return d.path("log") }

// claim makes the directory this process's own, until it ends: it creates it if need be, takes the lock and clears what
// an earlier cluster left. The log stays, for this process may be writing to it.
func (d directory) claim() error {
	if err := d.prepare(); err != nil {
		return err
	}
	if err := d.lock(); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != lockName && name != filepath.Base(d.log()) {
			if err := os.RemoveAll(d.path(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare creates the directory and its mark, or fails when it holds what no cluster wrote.
func (d directory) prepare() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return err
	}
	if len(entries) > 0 && !d.isOurs() {
		return fmt.Errorf("%s holds files that are not a cluster's: name an empty directory, or one that does not exist", d)
	}
	file, err := os.OpenFile(d.path(lockName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

func (d directory) isOurs() bool {
	_, err := os.Stat(d.path(lockName))
	return err == nil
}

// lock takes the lock for the rest of this process's life. It is a POSIX record lock, because those can be asked who
// holds them; closing any descriptor of the file would release it, so this one is left open and no other is opened.
func (d directory) lock() error {
	descriptor, err := syscall.Open(d.path(lockName), syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = syscall.FcntlFlock(uintptr(descriptor), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK})
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("a cluster is running in %s already", d)
	}
	return err
}

// holder is the process that runs the cluster, or 0 if none does.
func (d directory) holder() (pid int, err error) {
	file, err := os.OpenFile(d.path(lockName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("failed to look at the lock %s: %w", d.path(lockName), err)
	}
	if lock.Type == syscall.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}

// remove deletes the directory. Something may still be writing into it (etcd, until the process ends), so it tries
// again a few times.
func (d directory) remove() error {
	if !d.isOurs() {
		return fmt.Errorf("%s is not a cluster's directory, it stays as it is", d)
	}
	var err error
	for range 5 {
		if err = os.RemoveAll(string(d)); err == nil {
			return nil
		}
	}
	return err
}

// logTail is the end of the log, for messages.
func (d directory) logTail() string {
	text, err := os.ReadFile(d.log())
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
