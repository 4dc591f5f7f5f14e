"""What only Python offers without unsafe code: forking."""

import gc
import os
import time

# As native/machine.c and native/working_set.h have them.
_WORKING_SET_CLOCK = 0x5EE7
_TOGETHER, _PREPARE, _LEARN, _FIX = 1, 2, 3, 4


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


def allocate_together():
    """What is allocated from now on lies together, not in what loading left free between other objects."""
    _change_working_set(_TOGETHER)


def fork_scout():
    """The id of a child that is to rehearse and to leave by `leave_learned`, or 0 in that child."""
    _change_working_set(_PREPARE)
    return os.fork()


def leave_learned():
    """Notes which pages this process needed, and ends it."""
    _change_working_set(_LEARN)
    os._exit(0)


def take_learned(scout):
    """From now on children get those pages right after their fork. False if the kernel shows none."""
    os.waitpid(scout, 0)
    return _change_working_set(_FIX)


def _change_working_set(what):
    try:
        time.clock_settime_ns(_WORKING_SET_CLOCK, what)
    except OSError:
        return False
    return True


# Ends a session's process. The function itself: a template may put another under its name.
leave = os._exit
