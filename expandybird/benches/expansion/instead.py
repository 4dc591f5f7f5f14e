"""What one would write instead of a service: expand one request (JSON, standard input) in one fresh Python process.

Kind to itself: every schema is read once and every template compiled once. Prints the expansion as YAML.
"""

import json
import sys
from types import SimpleNamespace

import jinja2
import jsonschema
import yaml


def filled(schema, properties):
    for name, part in schema.get("properties", {}).items():
        if name not in properties and "default" in part:
            properties[name] = part["default"]
    return properties


def compiled(name, source):
    if name.endswith(".py"):
        module = {}
        exec(compile(source, name, "exec"), module)
        return module["GenerateConfig"]
    template = jinja2.Environment().from_string(source)
    return lambda context: template.render(env=context.env, properties=context.properties)


def expand(request):
    files = {file["name"]: file["content"] for file in request["imports"]}
    schemas = {
        name.removesuffix(".schema"): jsonschema.Draft4Validator(yaml.safe_load(content))
        for name, content in files.items()
        if name.endswith(".schema")
    }
    templates = {name: compiled(name, content) for name, content in files.items() if not name.endswith(".schema")}
    resources = []
    for resource in yaml.safe_load(request["content"])["resources"]:
        kind, properties = resource["type"], resource.get("properties", {})
        if kind in schemas:
            schemas[kind].validate(filled(schemas[kind].schema, properties))
        env = dict(request["env"], name=resource["name"], type=kind)
        result = templates[kind](SimpleNamespace(env=env, properties=properties, imports=files))
        resources += (yaml.safe_load(result) if isinstance(result, str) else result)["resources"]
    return {"resources": resources}


print(yaml.safe_dump(expand(json.load(sys.stdin)), sort_keys=False))
