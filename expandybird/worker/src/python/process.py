"""What only Python offers without unsafe code: forking."""

import gc
import os


def _forget_hooks():
    """Empties the three lists of hooks of `fork`, which all hold one that was just added.

    A machine may load modules with Python itself (by `.pth` files), and these have hooks. A session seeds `random` by
    itself and has no threads, so they would only cost every fork a millisecond.
    """

    def hook():
        pass

    os.register_at_fork(before=hook, after_in_parent=hook, after_in_child=hook)
    for holder in gc.get_referrers(hook):
        if isinstance(holder, list):
            holder.clear()


_forget_hooks()
# Nor do modules that are loaded from here on add any.
os.register_at_fork = lambda **hooks: None


def close_inherited():
    """Keeps the control socket and the three standard streams, whatever the server leaked."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))


def fork(stream):
    """The child's id, or 0 in the child, whose standard input then is the session's stream."""
    child = os.fork()
    if child == 0:
        os.dup2(stream, 0, inheritable=False)
    os.close(stream)
    return child


# Ends a session's process. The function itself: a template may put another under its name.
leave = os._exit
