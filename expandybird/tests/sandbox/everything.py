"""Calls everything that a template can reach and that takes no or trivial arguments, and returns what came of it.

That is: the functions, the classes, and the methods of classes and of their instances, of all modules; those in
`sys.modules`, and those that only Python's collector knows. A session does one part of several, by module.
"""

import importlib
import io
import re
import sys
import types

gc = importlib.import_module("gc")

# What ends the process (by itself, by a system call that nobody needs, by a class of C code that is made without its
# constructor), or waits for ever.
SKIPPED = re.compile(
    r"""(posix|os)\.(_exit|abort|sync|sched_\w+|\w*xattr|s?et[ug]id)
      | _?socket\.sethostname | _?signal\.(sigwait\w*|pause) | _thread\.interrupt_main
      | yaml\.\S*C(Base|Safe|Full|Unsafe)?(Dumper|Loader|Emitter|Parser)(\.\S+)?
      | \S+\.(wait|wait_for|get|_get|join|select|acquire\w*|_wait_for_tstate_lock|_acquire\w*|_shutdown)""",
    re.X,
)
SKIPPED_MODULES = ("expandybird_", "_cython_", "yaml._yaml", "yaml.cyaml")
# Addresses differ: README, "What remains".
ADDRESS = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{12}\b|_[0-9a-f]{12}\b|\b[0-9]{14,15}\b")
ARGUMENTS = ((), (0,), ("a",), (b"a",), ([],), ({},))
SHOWN = 160
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
ALSO = ("__next__", "__reduce__", "__getstate__")


def GenerateConfig(context):
    sys.stdout = sys.stderr = io.StringIO()
    gc.unfreeze()
    results = {}
    for index, (module, found) in enumerate(sorted(everything().items())):
        if index % context.properties["parts"] == context.properties["part"]:
            for name, thing in sorted(found.items()):
                results.update(look(name, thing))
    return results


def everything():
    """All functions and classes by module and name."""
    found = {}
    for module in list(sys.modules.values()):
        for name, thing in list(getattr(module, "__dict__", {}).items()):
            if isinstance(thing, FUNCTIONS + (type,)):
                found.setdefault(module.__name__, {}).setdefault(f"{module.__name__}.{name}", thing)
    for thing in gc.get_objects() + classes():
        if isinstance(thing, (types.BuiltinFunctionType, type)) and not is_bound(thing):
            module = str(getattr(thing, "__module__", None))
            found.setdefault(module, {}).setdefault(f"{module}.{thing.__qualname__}", thing)
    skipped = (GenerateConfig.__module__, *SKIPPED_MODULES)
    return {module: things for module, things in found.items() if not module.startswith(skipped)}


def is_bound(thing):
    return isinstance(getattr(thing, "__self__", None), (dict, list, str, bytes, type, io.IOBase))


def classes():
    seen, ahead = {}, [object]
    while ahead:
        cls = ahead.pop()
        if id(cls) not in seen:
            seen[id(cls)] = cls
            ahead.extend(type.__subclasses__(cls))
    return list(seen.values())


def look(name, thing):
    if SKIPPED.fullmatch(name):
        return {}
    if not isinstance(thing, type):
        return {name: result(thing)}
    results = {name: result(thing)}
    if issubclass(thing, BaseException):
        return results
    for method in sorted(set(dir(thing))):
        label = f"{name}.{method}"
        if SKIPPED.fullmatch(label) or method.startswith("__") and method not in ALSO:
            continue
        results[label] = result(lambda *arguments: getattr(thing, method)(*arguments))
        results[label + " of one"] = result(lambda: getattr(instance(thing), method)())
    return results


def instance(cls):
    for arguments in ARGUMENTS:
        try:
            return cls(*arguments)
        except Exception:
            pass
    raise TypeError("needs arguments")


def result(function):
    """What the first arguments that it takes give, behind what the others do."""
    results = []
    for arguments in ARGUMENTS:
        try:
            results.append(shown(function(*arguments)))
            break
        except BaseException as error:
            results.append(shown(error))
    return " | ".join(results)


def shown(value):
    try:
        text = repr(value)
    except BaseException as error:
        text = "no repr: " + type(error).__name__
    return ADDRESS.sub("an address", text).encode("ascii", "backslashreplace").decode()[:SHOWN]
