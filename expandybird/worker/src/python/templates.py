"""The templates of a session: compile once, run each in a module of its own.

Every call gets fresh copies of what it may see, so that no template can write to its caller's data.
"""

import builtins
import io
import posixpath
import sys
import types

import expandybird_fixed as fixed
import expandybird_helpers as helpers
import expandybird_library as library

PRINTED_CHARACTERS = 4096
_import = builtins.__import__

# What templates see as built in; a session puts its own `__import__` there. A copy made by each
# session would write to every one of these objects, and so have a page of its own for each.
_builtins = dict(vars(builtins))


class ForbiddenImport(ImportError):
    """A module of Python's that is not for templates."""


class MissingFunction(Exception):
    """A template without `GenerateConfig`."""


class TooMuchPrinted(Exception):
    """More text than even a result may have."""


class File:
    """An import of the request, compiled when first needed."""

    def __init__(self, name, path, content):
        self.name = name
        self.path = path
        self.content = content
        self._code = None

    def source(self):
        """What Python reads. An editor may have put a byte-order mark before it."""
        return self.content.removeprefix("\ufeff")

    def code(self):
        if self._code is None:
            self._code = compile(self.source(), self.path, "exec", dont_inherit=True)
        return self._code

    def module_name(self):
        return posixpath.basename(self.path).removesuffix(".py")

    def folders(self):
        """Where its helper modules are looked for first."""
        near = (posixpath.dirname(p).replace("../", "") for p in (self.path, self.name))
        return tuple(dict.fromkeys((*near, "")))


class Context:
    """What `GenerateConfig` is given."""

    def __init__(self, env, properties, imports):
        self.env = env
        self.properties = properties
        self.imports = imports


class Printed(io.TextIOBase):
    """Keeps the beginning of what is printed; nothing of it can reach the result."""

    def __init__(self, limit):
        self._limit = limit
        self.begin()

    def begin(self):
        """For a new call, whatever the one before left here."""
        self._text = ""
        self._left = self._limit

    def writable(self):
        return True

    def write(self, text):
        self._text += text[: PRINTED_CHARACTERS - len(self._text)]
        self._left -= len(text)
        self.check()
        return len(text)

    def check(self):
        if self._left < 0:
            raise TooMuchPrinted(f"it prints more than {self._limit} characters")

    def text(self):
        return self._text


class Session:
    """All templates of one request."""

    def __init__(self, imports, current_time, seed, output_bytes):
        self._files = {name: File(name, path, content) for name, path, content in imports}
        self._texts = {file.name: file.content for file in self._files.values()}
        self.sources = {file.path: file for file in self._files.values()}
        self._finder = helpers.Finder(
            helpers.Helpers(self._files.values()), library.RESERVED, self._prepare
        )
        sys.meta_path.insert(0, self._finder)
        _builtins["__import__"] = self._import
        self.printed = Printed(output_bytes)
        fixed.start(current_time, seed)

    def call(self, template, env, properties):
        """The template's result as it returned it."""
        file = self._files.get(template)
        if file is None:
            raise LookupError(f"no import is named '{template}'")
        self.printed.begin()
        sys.stdout = sys.stderr = self.printed
        self._finder.look_from(file.folders())
        generate = self._function(file)
        result = generate(Context(env, properties, dict(self._texts)))
        # Once more: a template may have caught what printing raised.
        self.printed.check()
        return result

    def _function(self, file):
        module = types.ModuleType(file.module_name())
        module.__file__ = file.path
        self._prepare(module)
        self._register(module)
        exec(file.code(), module.__dict__)
        for name in ("GenerateConfig", "generate_config"):
            if callable(getattr(module, name, None)):
                return getattr(module, name)
        raise MissingFunction(f"'{file.path}' has no function GenerateConfig(context)")

    def _prepare(self, module):
        module.__builtins__ = _builtins

    def _register(self, module):
        """Dataclasses and pickles look their module up; Python's own are never replaced."""
        known = sys.modules.get(module.__name__)
        if known is None or getattr(known, "__file__", None) in self.sources:
            sys.modules[module.__name__] = module

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        if level == 0:
            self._check_import(name)
        return _import(name, globals, locals, fromlist, level)

    def _check_import(self, name):
        top = name.partition(".")[0]
        if top in library.RESERVED or top in library.BEHIND_THEM:
            return
        if self._finder.is_helper(name):
            self._finder.make_way(name)
        elif top in library.YIELDING:
            return
        elif top in sys.stdlib_module_names or top in sys.modules:
            raise ForbiddenImport(f"module '{name}' is not available to templates", name=name)
        else:
            raise ModuleNotFoundError(f"no module named '{name}' among the imports", name=name)


class Rehearsal:
    """Takes back what sessions of our own leave behind."""

    def __init__(self):
        self._streams = sys.stdout, sys.stderr
        self._finders = list(sys.meta_path)

    def end(self, modules):
        """Not a comparison of all modules: that would write to every one of them."""
        sys.stdout, sys.stderr = self._streams
        sys.meta_path[:] = self._finders
        for name in modules:
            sys.modules.pop(name, None)
        del _builtins["__import__"]
