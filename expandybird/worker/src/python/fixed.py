"""Clocks that stand still and randomness that repeats: the same request gives the same bytes.

This program has its own clocks and its own entropy, below Python (native/machine.c): whatever in
Python or in its modules asks for the time or for random bytes is given those. Here they are set.
"""

import os
import random
import time
import uuid

# As native/machine.c has it.
_ENTROPY_CLOCK = 0x5EED

# Python keeps moments as nanoseconds in 64 bits: the year 2262.
_LATEST = 2**63 // 10**9


def start(current_time, seed):
    """Sets the clock, in seconds since 1970, and the beginning of all randomness."""
    time.clock_settime(time.CLOCK_REALTIME, max(-_LATEST, min(current_time, _LATEST)))
    time.clock_settime_ns(_ENTROPY_CLOCK, seed >> 1)
    random.seed(seed)


def check():
    """Refuses to go on with the machine's clocks, and mends what cannot live with ours."""
    start(1, 2)
    first = os.urandom(16)
    start(1, 2)
    if time.time() != 1 or time.monotonic() != 0 or os.urandom(16) != first:
        raise RuntimeError("this program was linked without clocks and entropy of its own")
    # The functions behind them wait until the clock moves, and look for the machine's network card.
    uuid._generate_time_safe = None
    uuid.getnode = lambda: 0x0242AC110002
