"""What templates may import, loaded before the first of them runs.

Responsible for the search path, for the set of modules and for an environment that says nothing
about this machine. The set is a promise to authors, not a wall: the walls are the kernel's.
"""

import errno
import gc
import importlib
import importlib.machinery
import os
import pkgutil
import posix
import sys

import expandybird_process as process

# Computing, text and data; nothing that talks to anyone. Every one is loaded before the first fork,
# with all that belongs to it: it costs a session nothing, and no session can open a file.
RESERVED = frozenset(
    """
    __future__ abc argparse array ast base64 binascii bisect builtins calendar cmath codecs collections
    colorsys configparser contextlib copy copyreg csv dataclasses datetime decimal difflib enum errno
    fnmatch fractions functools gettext graphlib gzip hashlib heapq hmac html importlib inspect io
    ipaddress itertools json keyword linecache locale logging math numbers operator os pathlib pickle
    posixpath pprint quopri random re reprlib secrets shlex stat statistics string stringprep struct
    sys textwrap time token tokenize traceback types typing unicodedata urllib uuid warnings weakref
    zlib zoneinfo
    jinja2 markupsafe six yaml
    """.split()
)

# As harmless. They joined the set later, so a helper module of such a name goes before them.
YIELDING = frozenset(
    """
    bz2 contextvars email getopt lzma optparse pickletools platform plistlib queue tarfile tomllib xml
    zipfile
    """.split()
)

# What those above, being written in C, import in the name of the template that calls them.
BEHIND_THEM = frozenset(
    "_collections_abc _compat_pickle _io _operator _strptime _weakrefset encodings".split()
)

# Loaded on first use by those above, in ways that looking through their folders does not show.
_ON_FIRST_USE = ["os.path", "six.moves", "six.moves.urllib.parse"]

# The TLS library has entropy of its own, is large, and reaches nobody from here. Every library that is loaded
# makes every fork slower, so the tables of East Asian encodings other than Unicode are left out too.
_WITHOUT = "_ssl _multibytecodec _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw".split()

_PACKAGES = ("yaml", "six", "jinja2")
_SITE = ("site-packages", "dist-packages")


def warm_up(python_path):
    """Loads everything; from here on, nothing is looked for in files."""
    if python_path is not None:
        python_path = os.fspath(python_path)
    _forget_the_machine()
    _refuse_shells()
    _search_only(python_path)
    for name in _PACKAGES:
        _require(name, python_path)
    sys.modules.update(dict.fromkeys(_WITHOUT))
    for name in sorted(RESERVED | YIELDING | BEHIND_THEM):
        if _load(name):
            _load_below(sys.modules[name])
    for name in _ON_FIRST_USE:
        _load(name)
    sys.meta_path.remove(importlib.machinery.PathFinder)


def _load(name):
    """Some interpreters are built without zlib, zoneinfo and the like."""
    try:
        importlib.import_module(name)
    except ImportError:
        if name in _PACKAGES:
            raise
        return False
    return True


def _load_below(package):
    """All modules of a package, but those that are programs or tests."""
    for module in pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."):
        if module.name.rpartition(".")[2] not in ("__main__", "test", "tests") and _load(module.name):
            _load_below(sys.modules[module.name])


def settle():
    """Frees what came before. What comes later lies together."""
    gc.collect()
    process.allocate_together()


def freeze():
    """Keeps the collector of a session from touching, hence copying, the pages it shares."""
    gc.freeze()


def _refused_system(command):
    """In the place of `os.system`, which reports a refusal as a program that failed."""
    raise PermissionError(errno.EPERM, "templates may not run programs")


def _refuse_shells():
    _refused_system.__module__ = "os"
    _refused_system.__name__ = _refused_system.__qualname__ = "system"
    os.system = posix.system = _refused_system


def _forget_the_machine():
    os.environ.clear()
    os.environ["TZ"] = "UTC0"
    sys.argv = [""]


def _search_only(python_path):
    library = [p for p in sys.path if os.path.isdir(p) and os.path.basename(p) not in _SITE]
    site = [p for p in sys.path if os.path.isdir(p) and os.path.basename(p) in _SITE]
    if python_path is not None:
        site = [python_path]
    sys.path[:] = library + site
    # Packages of this machine may have added finders of their own.
    wanted = ("BuiltinImporter", "FrozenImporter", "PathFinder")
    sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__name__", None) in wanted]


def _require(name, python_path):
    try:
        importlib.import_module(name)
    except ImportError as error:
        where = "--target " + python_path + " " if python_path else ""
        raise ImportError(
            f"the Python package '{name}' cannot be imported ({error}): "
            f"run python3 -m pip install {where}pyyaml six jinja2"
        ) from error
