"""What templates may import, loaded before the first of them runs.

Responsible for the search path, for the set of modules and for an environment that says nothing
about this machine. The set is a promise to authors, not a wall: the walls are the kernel's.
"""

import errno
import gc
import importlib
import os
import posix
import sys

# Computing, text and data; nothing that talks to anyone. Every one is loaded before the first fork:
# it costs a session nothing, and modules written in C cannot be loaded once a session is locked down.
ALLOWED = frozenset(
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

# What those above, being written in C, import in the name of the template that calls them.
BEHIND_THEM = frozenset(
    "_collections_abc _compat_pickle _io _operator _strptime _weakrefset encodings".split()
)

# Loaded on first use by those above.
_ON_FIRST_USE = """
    collections.abc encodings.ascii encodings.idna encodings.latin_1 encodings.punycode
    encodings.utf_16 encodings.utf_32 encodings.utf_8_sig importlib.util jinja2.debug jinja2.ext
    jinja2.loaders jinja2.meta jinja2.sandbox json.tool logging.config os.path six.moves
    urllib.parse
""".split()

_PACKAGES = ("yaml", "six", "jinja2")
_SITE = ("site-packages", "dist-packages")


def warm_up(python_path):
    """Loads everything and returns the folders that a session may read."""
    if python_path is not None:
        python_path = os.fspath(python_path)
    _forget_the_machine()
    _refuse_shells()
    folders = _search_only(python_path)
    for name in _PACKAGES:
        _require(name, python_path)
    for name in sorted(ALLOWED | BEHIND_THEM) + _ON_FIRST_USE:
        # Some interpreters are built without zlib, zoneinfo and the like.
        try:
            importlib.import_module(name)
        except ImportError:
            if name in _PACKAGES:
                raise
    return folders


def settle():
    """The last step before the first fork."""
    gc.collect()
    # Keeps the collector of a session from touching, hence copying, the pages it shares.
    gc.freeze()


def _refused_system(command):
    """In the place of `os.system`, which tells a refusal as a program that failed."""
    raise PermissionError(errno.EPERM, "templates may not run programs")


def _refuse_shells():
    _refused_system.__module__ = "os"
    _refused_system.__name__ = _refused_system.__qualname__ = "system"
    os.system = posix.system = _refused_system


def _forget_the_machine():
    os.environ.clear()
    # Given in full, it needs no file of time zones.
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
    return list(sys.path)


def _require(name, python_path):
    try:
        importlib.import_module(name)
    except ImportError as error:
        where = "--target " + python_path + " " if python_path else ""
        raise ImportError(
            f"the Python package '{name}' cannot be imported ({error}): "
            f"run python3 -m pip install {where}pyyaml six jinja2"
        ) from error
