"""Writes what PyYAML reads: `python3 facts.py > facts.json` (PyYAML 6.0.3).

The table is the proof of `common::yaml`; Python and PyYAML are needed to renew it only.
"""

import json
import pathlib

import yaml

SCALARS = """
yes Yes YES yEs no No NO nO on On ON oN off Off OFF oFF true True TRUE tRUE false False FALSE fALSE y Y n N
~ null Null NULL nULL none None nil ~~ < << <<< = == => .
0 -0 +0 00 01 07 08 09 0755 -0755 +0755 0799 0_7 0_ 0o755 0O755 0o7 12 -12 +12 1_000 1__0 _1 1_ -1_0 - -- + -a +a
0b11 -0b11 +0b11 0b1_1 0b12 0B11 0b 0x1F 0x1f -0xff +0xFF 0x_F 0xFG 0X1F 0x 123abc 1a 12e 9223372036854775807 -9223372036854775808
18446744073709551615 18446744073709551616 -9223372036854775809 100000000000000000000000000 0xffffffffffffffff 0x10000000000000000
22:30 22:60 22:3 22:5 1:30:45 190:20:30 -1:30 +1:30 0:30 01:30 10:5 1:000 60:00 1:2:3:4 1_0:30 1:30.5 -1:30.5 1:30. 0:30.5 1:60.5 20:30:40.5_1 10.0.0.1 1.2.3 80:80 8080:80 1:
1.0 -1.0 +1.0 1. -1. .5 -.5 +.5 ._5 .5_0 1.5_0 1_0.5 0.1 1e3 1E3 1e+3 1.0e3 1.0E3 1.0e+3 1.0E+3 1.0e-3 1.e+3 .5e+3 .5e3 1.0e 1.0e+ 1.0e+x 08.5 1.5e+400 -1.5e+400 1.7976931348623157e+308 5.0e-324
1234567.0 1.0e+16 1.0e+15 1.0e-4 1.0e-5 123456789012345678.0 0.30000000000000004
.inf .Inf .INF -.inf +.inf .iNF .nan .NaN .NAN -.nan .Nan inf nan Infinity
2016-01-01 2016-1-1 2016-01-1 2016-13-45 20160101 2016-01 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 2001-12-15T2:59:43.1Z 2001-12-14T21:59 2001-1-1T1:02:03 2001-12-14T21:59:43+5 2001-12-14T21:59:43+05:3
v1 a-b a_b a:b http://x/y x=y a@b 1.2.3-rc1 1m 500Mi 3Gi 50% -x --flag *.yaml ?x :x a,b 'it''s' "dq" '' "" 'yes' "0755" '~' "1e3" !!str !!null !!int !!float
""".split()

SCALARS += [
    "", "2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43", "2001-12-14   21:59:43 Z", "2001-12-14 21:59:43 x", "a b", "1 2", "yes no",
    "!!str yes", "!!str 0755", "!!str ''", "!!int 0755", "!!int '12'", "!!int 1_0", "!!int x", "!!int ''", "!!int 1.5", "!!int 0o17", "!!int ' 017'", "!!int ' 12 '", "!!int +-5", "!!int 0x0X1F", "!!int 0b0b1", "!!int 1:-30", "!!float 1", "!!float 1e3", "!!float x", "!!float .inf", "!!float ' 1.5 '", "190:20:30.15", "1:1:1:59.999999",
    "!!bool yes", "!!bool YeS", "!!bool y", "!!bool 1", "!!null x", "!!timestamp 2016-01-01", "!!binary aGk=", "! yes", "! 12", "! '12'", "!Foo x", "!!python/none x", "!!python/object:os.system x",
    "!<tag:yaml.org,2002:int> '7'", "!!seq x", "!!map x", "# c", "a # c", "a#c", "@x", "`x", "%x", "[", "]", "{", "}", "'", '"', "a: b: c", "- a", "*x", "&x", "&x y", "| x",
]

DOCUMENTS = [
    "", "\n", "# only a comment\n", "---\n", "--- a\n...\n", "%YAML 1.1\n---\na: 1\n", "\ufeffa: b\n", "a: b\r\nc:\r\n- d\r\n", "a: 1\n---\nb: 2\n", "---\n---\n", "a: b\n...\n# end\n",
    "a:\n- b\n- c\nd: e\n", "- - a\n  - b\n- c\n", "- a: b\n  c: d\n-\n  e: f\n", "a:\nb:\n", "- \n- a\n", "? a\n: b\n", "? a\n", "[a, b, ]", "{a: b, c}", "{a: , b: }", "[a: b, c]", "{a: {b: [c, {d: e}]}}",
    "a: {b:1}", "a: {\"b\":1}", "a: [x:y]", "a: [\n  b,\n  c\n]\n", "a: {\n  b: 1\n}\n", "{a: b,\nc: d}", "[a,\n# c\nb]",
    "a: |\n  b\n   c\n\n  d\n\n", "a: |-\n  b\n", "a: |+\n  b\n\n", "a: |2\n   b\n", "a: |\n  b", "a: |+\n  b", "a: >\n  b\n  c", "a: |\n  b\n  ", "a: |\n  b\n# c", "a: |\n  b\n  # c", "- |\n b\n- |\n c", "true: c\n", "a: |\n  b\n\n  # é", "a: >\n b\n\n  c\n d\n", "a: >-\n\n  b\n  c\n\n", "a: |\nb: c\n", "- |\n a\n- >\n b\n",
    "a: b\n c\n", "a: b\n\n c\n", "a: 'b\n\n  c'\n", 'a: "b\\\n  c"\n', 'a: "\\x41\\u00e9\\U0001F600\\n\\t\\"\\\\\\/\\0\\e\\_\\N\\L\\P"\n', 'a: "\\q"\n', "a: 'b'c", "a: b #c\n", "a:\n  b: c\n # x\n  d: e\n",
    "a:\n\tb: c\n", "\ta: b\n", "a: |\n\tb\n", "a: - b\n", "a: -\n", "a\nb: c\n", "key: [a, b]: c", "[,]", "{,}", "a: [b\n", "a: 'b\n", "a: |-\n  b\n c\n",
    "1: a\n1.5: b\nnull: d\n~x: e\n2016-01-01: f\n0x10: g\nyes!: h\n", "1.0: a\n1.0e+16: b\n1.0e-5: c\n0.0001: d\n100000.0: e\n", "'1': a\n\"yes\": b\n", "!!int '3': x\n", "=: x\n", "a: =\n", "- =\n",
    "a: 1\na: 2\n", "a: 1\nb: 2\na: 3\n", "[a]: b\n", "{a: b}: c\n", "? [a]\n: b\n",
    "a: &x {b: 1}\nc: *x\n", "a: &x 1\nb: [*x, *x]\n", "&a a: *a\n", "a: &x b\n*x : c\n", "a: *x\n", "a: &x\n  b: *x\n", "a: &x\nb: *x\n",
    "a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n  z: 4\n", "a: &a {x: 1, y: 2}\nb:\n  y: 3\n  z: 4\n  <<: *a\n", "a: &a {x: 1, z: 0}\nb: &b {x: 2, y: 3}\nc:\n  <<: [*a, *b]\n  w: 1\n", "<<: {a: 1}\nb: 2\n", "<<: [{a: 1}, {a: 2, b: 3}]\n",
    "a: &a {x: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: *b, z: 3}\n", "<<: 1\n", "<<: [1]\n", "<<:\n", "a: <<\n", "'<<': {a: 1}\n", "<<: {a: 1}\n<<: {a: 2, b: 3}\n", "<<: {a: 1, b: 2}\nb: 3\na: 4\n",
    "!!map {a: 1}\n", "!!seq [a]\n", "!!seq {a: 1}\n", "!!map [a]\n", "!!str [a]\n", "a: !Foo {b: 1}\n", "a: !!python/tuple [1]\n", "%TAG !e! tag:yaml.org,2002:\n---\na: !e!str 1\n", "a: !e!str 1\n", "a: !!str\nb: c\n",
    "resources:\n- name: a\n  type: b.jinja\n  properties:\n    zone: us-central1-a\n    port: 0644\n    at: 22:30\n    when: 2016-01-01\n    on: yes\n",
]

# Whole texts, readable: in another file, between lines of equal signs.
DOCUMENTS += pathlib.Path(__file__).with_name("documents.txt").read_text().split("\n=====\n")


def as_json(value):
    if isinstance(value, dict):
        return {json.loads(json.dumps(key_text(k))): as_json(v) for k, v in value.items()}
    if isinstance(value, list):
        return [as_json(v) for v in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError
    return value


def key_text(key):
    return key if isinstance(key, str) else next(iter(json.loads(json.dumps({key: 0}))))


class Loader(yaml.SafeLoader):
    """PyYAML but for what JSON has no words for: dates keep their text."""


for kept in ("timestamp", "binary"):
    Loader.add_constructor("tag:yaml.org,2002:" + kept, lambda loader, node: node.value)


def fact(text):
    try:
        return {"text": text, "reads": json.loads(json.dumps(as_json(yaml.load(text, Loader)), allow_nan=False))}
    except Exception as error:
        return {"text": text, "fails": type(error).__name__}


def main():
    facts = [fact("a: " + text) for text in SCALARS] + [fact("- " + text) for text in SCALARS if text] + [fact(text) for text in DOCUMENTS]
    print("[\n" + ",\n".join(json.dumps(f) for f in facts) + "\n]")


main()
