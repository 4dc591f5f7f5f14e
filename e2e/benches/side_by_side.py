"""What a user would write instead of a service: expand one template in one fresh Python process.

Arguments: the template (`.jinja` or `.py`) and its properties as YAML text. Prints the expansion as YAML.
"""

import sys
from types import SimpleNamespace

import jinja2
import yaml

path, properties = sys.argv[1], yaml.safe_load(sys.argv[2])
env = {"deployment": "bench", "name": "one", "type": path}
with open(path) as file:
    source = file.read()
if path.endswith(".jinja"):
    text = jinja2.Environment().from_string(source).render(env=env, properties=properties)
else:
    module = {}
    exec(compile(source, path, "exec"), module)
    text = module["GenerateConfig"](SimpleNamespace(env=env, properties=properties, imports={}))
print(yaml.dump(yaml.safe_load(text) if isinstance(text, str) else text))
