"""The originals: Jinja2, PyYAML and jsonschema, asked line by line.

One request is one line of JSON, `{"kind": ..., "cases": [...]}`; its answer is one line too, with one result a
case: `{"ok": ...}`, `{"error": "..."}`, or `{"skip": "..."}` where the original has no answer that could be compared
(an address in memory, too much time).
"""

import copy
import inspect
import json
import os
import re
import resource
import signal
import struct
import sys
import warnings

import jinja2
import yaml

warnings.simplefilter("ignore")

# One case takes a second of the processor and a gigabyte at most. Its process ends when that does not break it off.
SECONDS = 1
SECONDS_AT_MOST = 3
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

EXTENSIONS = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+>|<class |<(?:built-in|bound|Macro|Block|jinja2|TemplateReference|LoopContext|Namespace|function)")


def signatures(_):
    """What can be called, with its parameters: `[name, kind, has a default]`."""
    environment = jinja2.Environment()
    calls = {
        "filters": {name: described(f) for name, f in environment.filters.items()},
        "tests": {name: described(f) for name, f in environment.tests.items()},
        "globals": {name: described(f) for name, f in environment.globals.items()},
    }
    for kind in (str, list, dict, tuple, int, float):
        names = [name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))]
        calls[kind.__name__] = {name: described(getattr(kind(), name), bound=True) for name in names}
    return calls


def described(function, bound=False):
    wrapped = inspect.unwrap(function)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        # Python has no signature of it: any arguments.
        return {"parameters": [["self", "POSITIONAL_ONLY", None], ["args", "VAR_POSITIONAL", None]], "generator": False}
    if parameters and parameters[0].name in ("context", "eval_ctx", "env", "environment"):
        parameters = parameters[1:]
    names = ("do_reverse", "sync_do_select", "sync_do_reject", "sync_do_selectattr", "sync_do_rejectattr")
    generator = inspect.isgeneratorfunction(wrapped) or wrapped.__name__ in names
    if bound:
        parameters.insert(0, inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY))
    default = lambda p: None if p.default is inspect.Parameter.empty else repr(p.default)
    return {"parameters": [[p.name, p.kind.name, default(p)] for p in parameters], "generator": generator}


def printed(case):
    environment = jinja2.Environment(loader=jinja2.DictLoader(case["files"]), extensions=EXTENSIONS)
    text = environment.get_template("t.jinja").render(
        env=dict(case["env"]), properties=copy.deepcopy(case["properties"]), imports=dict(case["files"])
    )
    if ADDRESS.search(text):
        return {"skip": "an address"}
    text.encode("utf-8")
    return {"ok": text}


class Loader(yaml.SafeLoader):
    """As the reader promises: a key is what JSON makes of it, so `1` and `yes` are two keys; no text has half a character."""

    def construct_scalar(self, node):
        return whole(super().construct_scalar(node))

    def construct_mapping(self, node, deep=False):
        if not isinstance(node, yaml.MappingNode):
            return super().construct_mapping(node, deep)
        self.flatten_mapping(node)
        mapping = {}
        for key, value in node.value:
            name = key_text(self.construct_object(key, deep=True))
            mapping[name] = self.construct_object(value, deep=deep)
        return mapping


def constructor(name):
    return yaml.SafeLoader.yaml_constructors[f"tag:yaml.org,2002:{name}"]


def within_json(construct):
    """A value that JSON does not have is an error, also where a key given again replaces it."""

    def checked(loader, node):
        value = construct(loader, node)
        as_json(value)
        return value

    return checked


PROMISED = {name: within_json(constructor(name)) for name in ("int", "float")}
# Time stamps and bytes keep their text; sets and pairs are the map or the list that they are written as.
PROMISED |= {name: lambda loader, node: loader.construct_scalar(node) for name in ("timestamp", "binary")}
PROMISED |= {"set": constructor("map"), "omap": constructor("seq"), "pairs": constructor("seq")}
for name, construct in PROMISED.items():
    Loader.add_constructor(f"tag:yaml.org,2002:{name}", construct)


def read(case):
    return {"ok": [as_json(value) for value in yaml.load_all(case["text"], Loader)]}


def as_json(value):
    """What JSON can hold of it, as the reader promises; an error otherwise."""
    if isinstance(value, dict):
        return {key_text(key): as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 64:
            raise OverflowError("an integer beyond 64 bits")
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise OverflowError("not finite")
        return {"float": struct.pack(">d", value).hex()}
    raise TypeError(f"JSON has no {type(value).__name__}")


def whole(text):
    """With the two halves of a character as one, as JSON has it; half a character is an error."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def key_text(key):
    if isinstance(key, (tuple, bytes)):
        raise TypeError("a key that is not a scalar")
    if isinstance(key, float) and (key != key or key in (float("inf"), float("-inf"))):
        raise OverflowError("not finite")
    if isinstance(key, int) and not -(1 << 63) <= key < 1 << 64:
        raise OverflowError("an integer beyond 64 bits")
    if isinstance(key, str):
        return whole(key)
    return next(iter(json.loads(json.dumps({key: 0}))))


def parsed(case):
    return {"ok": as_json(json.loads(case["text"]))}


def validated(case):
    """The properties with the defaults filled in, if they fit."""
    import jsonschema

    schema, properties = case["schema"], copy.deepcopy(case["properties"])
    jsonschema.Draft4Validator.check_schema(schema)
    draft4 = jsonschema.Draft4Validator

    def with_defaults(validator, names, instance, schema):
        if validator.is_type(instance, "object"):
            for name, inner in names.items():
                inner_default = default_of(validator, inner)
                if inner_default is not MISSING:
                    instance.setdefault(name, copy.deepcopy(inner_default))
        yield from draft4.VALIDATORS["properties"](validator, names, instance, schema)

    setter = jsonschema.validators.extend(draft4, {"properties": with_defaults, "required": lambda *_: ()})
    for _ in setter(schema).iter_errors(properties):
        pass
    errors = list(draft4(schema).iter_errors(properties))
    if errors:
        return {"error": errors[0].message}
    return {"ok": as_json(properties)}


MISSING = object()


def default_of(validator, schema):
    if not isinstance(schema, dict):
        return MISSING
    if "$ref" in schema:
        return default_of(validator, validator._resolver.lookup(schema["$ref"]).contents)
    return schema.get("default", MISSING)


KINDS = {"jinja": printed, "yaml": read, "json": parsed, "schema": validated}


def late(*_):
    raise TimeoutError


def answer(kind, case):
    # Time of this process, not of the clock: a busy machine must not change what an original says.
    try:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            return KINDS[kind](case)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except (TimeoutError, MemoryError) as error:
        return {"skip": type(error).__name__}
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # A library written in Rust raises its panics as that: it panics where Python's recursion ends.
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def answers(kind, cases):
    """In a process of their own: Python cannot break off a single operation, such as a power of large numbers."""
    found = []
    while len(found) < len(cases):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w") as out:
                for case in cases[len(found) :]:
                    # Without a handler, the signal ends the process.
                    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_AT_MOST)
                    out.write(json.dumps(answer(kind, case)) + "\n")
                    out.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            found.extend(json.loads(line) for line in lines if line.endswith("\n"))
        os.waitpid(child, 0)
        if len(found) < len(cases):
            found.append({"skip": "it does not end"})
    return found


def main():
    signal.signal(signal.SIGPROF, late)
    for line in sys.stdin:
        request = json.loads(line)
        if request["kind"] == "signatures":
            result = signatures(request)
        else:
            result = answers(request["kind"], request["cases"])
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()


main()
