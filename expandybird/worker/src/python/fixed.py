"""Clocks that stand still and randomness that repeats: the same request gives the same bytes.

Covered: `time`, `datetime.now/today/utcnow`, `random`, `os.urandom`, `secrets`, `uuid`.
Not covered: addresses (`id()`, the default `repr` of an object, the order of a set of such
objects), the process id, and `random.Random()` seeded by the template itself with one of these.
"""

import datetime
import os
import random
import time
import uuid

_real_datetime = datetime.datetime
_real_date = datetime.date
_real_gmtime = time.gmtime
_real_strftime = time.strftime
_real_asctime = time.asctime

_now = 0
_entropy = random.Random(0)


def start(current_time, seed):
    """Sets the clock, in seconds since 1970, and the beginning of all randomness."""
    global _now
    _now = current_time
    random.seed(seed)
    # Apart from `random`'s own stream, so that drawing from one does not move the other.
    _entropy.seed(f"entropy {seed}")


def _urandom(size):
    return _entropy.randbytes(size)


def _seconds():
    return float(_now)


def _nanoseconds():
    return _now * 1_000_000_000


def _instance_of(real):
    class Checks(type):
        def __instancecheck__(cls, instance):
            return isinstance(instance, real)

        def __subclasscheck__(cls, subclass):
            return issubclass(subclass, real)

    return Checks


class _Datetime(_real_datetime, metaclass=_instance_of(_real_datetime)):
    """Makes plain datetimes, so that YAML and comparisons see what they know."""

    def __new__(cls, *arguments, **named):
        plain = _real_datetime if cls is _Datetime else cls
        return _real_datetime.__new__(plain, *arguments, **named)

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_now, tz)

    @classmethod
    def utcnow(cls):
        return cls.fromtimestamp(_now, datetime.timezone.utc).replace(tzinfo=None)

    @classmethod
    def today(cls):
        return cls.now()


class _Date(_real_date, metaclass=_instance_of(_real_date)):
    def __new__(cls, *arguments, **named):
        plain = _real_date if cls is _Date else cls
        return _real_date.__new__(plain, *arguments, **named)

    @classmethod
    def today(cls):
        return cls.fromtimestamp(_now)


def install():
    """Replaces what shows the time or is random, for every module that asks from now on."""
    for cls, name in ((_Datetime, "datetime"), (_Date, "date")):
        cls.__name__ = cls.__qualname__ = name
        cls.__module__ = "datetime"
    datetime.datetime = _Datetime
    datetime.date = _Date
    _install_time()
    os.urandom = random._urandom = _urandom
    uuid.getnode = lambda: 0x0242AC110002
    uuid._generate_time_safe = None


def _install_time():
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, _seconds)
        setattr(time, name + "_ns", _nanoseconds)
    time.clock_gettime = lambda clock: _seconds()
    time.clock_gettime_ns = lambda clock: _nanoseconds()
    time.gmtime = lambda seconds=None: _real_gmtime(_now if seconds is None else seconds)
    time.localtime = time.gmtime
    time.asctime = lambda moment=None: _real_asctime(time.gmtime() if moment is None else moment)
    time.ctime = lambda seconds=None: _real_asctime(time.gmtime(seconds))
    time.strftime = lambda form, moment=None: _real_strftime(
        form, time.gmtime() if moment is None else moment
    )
