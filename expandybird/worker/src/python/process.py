"""What only Python offers without unsafe code: receiving a descriptor, and forking."""

import os
import socket

# Hooks of modules yet to be loaded. A session seeds `random` by itself and has no threads, so they
# would only cost every fork a quarter of a millisecond.
os.register_at_fork = lambda **hooks: None

_control = socket.socket(fileno=0)


def close_inherited():
    """Keeps the control socket and the three standard streams, whatever the server leaked."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def receive(size):
    """The next control message and the descriptor beside it; empty when the server is gone."""
    data, descriptors, _, _ = socket.recv_fds(_control, size, 1)
    return data, descriptors[0] if descriptors else None


def fork(stream):
    """The child's id, or 0 in the child, whose standard input then is the session's stream."""
    child = os.fork()
    if child == 0:
        os.dup2(stream, 0, inheritable=False)
    os.close(stream)
    return child


# Ends a session's process. The function itself: a template may put another under its name.
leave = os._exit
