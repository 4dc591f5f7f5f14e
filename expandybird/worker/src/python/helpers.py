"""Helper modules: which import of the request `import a.b` means.

A module is looked for beside the template, then from the root, by import name and by path; at last
anywhere, when only one file can be meant.
"""

import importlib.abc
import importlib.machinery
import posixpath
import sys


class Location:
    """A module of the request: its file, or none for a folder without `__init__.py`."""

    def __init__(self, file, is_package):
        self.file = file
        self.is_package = is_package


class Helpers:
    """The helper modules of a session, as seen from one folder at a time."""

    def __init__(self, files):
        self._by_path = {}
        self._by_ending = {}
        self._folders = set()
        for file in files:
            for path in {_located(file.name, file.path), _located(file.path, file.path)} - {None}:
                self._add(path, file)

    def _add(self, path, file):
        if self._by_path.setdefault(path, file) is not file:
            return
        parts = path.split("/")
        for begin in range(len(parts)):
            files = self._by_ending.setdefault("/".join(parts[begin:]), [])
            if file not in files:
                files.append(file)
            for end in range(begin + 1, len(parts)):
                self._folders.add("/".join(parts[begin:end]))

    def find(self, module, folders):
        """The location of a dotted name; None when no import of the request can be meant."""
        path = module.replace(".", "/")
        for folder in folders:
            near = posixpath.normpath(posixpath.join(folder, path)).lstrip("/")
            for candidate, is_package in _candidates(near):
                if candidate in self._by_path:
                    return Location(self._by_path[candidate], is_package)
        for candidate, is_package in _candidates(path):
            files = self._by_ending.get(candidate, [])
            if len(files) == 1:
                return Location(files[0], is_package)
            if files:
                names = ", ".join(sorted(f.path for f in files))
                raise ImportError(f"'{module}' may mean any of the imports {names}")
        return Location(None, True) if path in self._folders else None


def _candidates(path):
    return ((path + "/__init__.py", True), (path + ".py", False))


def _located(name, path):
    """Where a name puts a module; None when it names none. `../x.py` lies beside the rest."""
    if not path.endswith(".py") and not name.endswith(".py"):
        return None
    if not name.endswith(".py"):
        name += ".py"
    parts = posixpath.normpath(name).split("/")
    return "/".join(p for p in parts if p not in ("", "..")) or None


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Python's way to the helpers; keeps those of different folders apart."""

    def __init__(self, helpers, reserved, prepare):
        self._helpers = helpers
        self._reserved = reserved
        self._prepare = prepare
        self._folders = ("",)
        self._loaded = {}

    def is_helper(self, module):
        top = module.partition(".")[0]
        return top not in self._reserved and self._helpers.find(top, self._folders) is not None

    def look_from(self, folders):
        """Changes the folders that are searched first; what another folder loaded is put aside."""
        if folders == self._folders:
            return
        for name in self._loaded.get(self._folders, ()):
            self._loaded[self._folders][name] = sys.modules.pop(name, None)
        self._folders = folders
        for name, module in self._loaded.get(folders, {}).items():
            if module is not None:
                sys.modules[name] = module

    def make_way(self, module):
        """A helper wins over a module that merely happens to be loaded."""
        top = module.partition(".")[0]
        if top in sys.modules and top not in self._loaded.get(self._folders, {}):
            if top not in sys.builtin_module_names and self.is_helper(top):
                del sys.modules[top]

    def find_spec(self, fullname, path, target=None):
        if fullname.partition(".")[0] in self._reserved:
            return None
        location = self._helpers.find(fullname, self._folders)
        if location is None:
            return None
        origin = location.file.path if location.file else None
        self._loaded.setdefault(self._folders, {})[fullname] = None
        return importlib.machinery.ModuleSpec(
            fullname, self, origin=origin, is_package=location.is_package, loader_state=location
        )

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.loader_state.file
        if file is not None:
            module.__file__ = file.path
            self._prepare(module)
            exec(file.code(), module.__dict__)
