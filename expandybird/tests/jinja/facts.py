"""Asks the real Jinja2 (3.1) what templates print, and writes facts.json.

Run it where Jinja2 is installed: python3 facts.py > facts.json
"""

import copy
import json
import pathlib
import sys

import jinja2

PROPERTIES = {
    "s": "Hello World", "n": 7, "f": 2.5, "t": True, "none": None,
    "l": [3, 1, 2], "ls": ["b", "a", "C"], "m": {"x": 1, "y": "two", "z": [1, {"k": None}]},
    "ml": [{"name": "a", "v": 2}, {"name": "b", "v": 1}], "big": 9007199254740993, "q": "it's", "csv": "a,b,,c",
    "neg": -3, "zone": "us-central1-a", "e": [], "ed": {}, "u": "é日本", "nested": {"a": {"b": {"c": [1, 2, {"d": "x"}]}}},
    "tree": [{"n": "r", "c": [{"n": "x", "c": []}, {"n": "y", "c": [{"n": "z", "c": []}]}]}],
}
FILES = {
    "m.jinja": "{% macro res(name, n=1) %}<{{ name }}:{{ n }}>{% endmacro %}{% set v = 5 %}{% set _p = 6 %}"
    "{% macro uses() %}[{{ properties.n }}|{{ x }}]{% endmacro %}",
    "inc.jinja": "[{{ properties.n }}{{ x }}]\n",
    "base.jinja": "A{% block b %}base{% endblock %}Z{% block c scoped %}{{ x }}{% endblock %}",
    "mid.jinja": "{% extends 'base.jinja' %}{% block b %}mid({{ super() }}){% endblock %}",
    "loop.jinja": "{{ loop.index }}-{{ i }};",
}

EXPRESSIONS = """
1 + 2|1 + 2.0|'a' + 'b'|[1] + [2]|(1,) + (2,)|True + 1|1 - 2|2 * 3.5|'a' * 3|[1] * 2|7 / 2|8 / 2|7 // 2|-7 // 2|7.5 // 2|-7 % 3|7 % -3|7.5 % 2|2 ** 10|2 ** -1
1 + 2 * 3 % 4|(1 + 2) ~ 'x' ~ none|1 ~ 2 + 3|properties.n % 2 == 0|-properties.n % 4|'%s-%d' % ('a', 3)|'%s' % 'x'|'%05d' % 42|'%.2f' % 3.14159|'%s %s' % ([1], {'a': 1})|'%x' % 255|'%5s|' % 'a'|'%-5s|' % 'a'|'%%' % ()|'%(a)s' % {'a': 1}|'%s' % none|'%s' % True|'%s' % 1.0|'%r' % 'a'|'%d' % 3.7
properties.s|properties.n|properties.f|properties.t|properties.none|properties.l|properties.ls|properties.m|properties.ml|properties.big|properties.q|[properties.q]|['a"b']|['a"b\\'c']|('a',)|()|(1, 'b')|{}|[]|[none, true, 1.0, 'x']|{'a': {'b': [1]}}|1.0|100000.0|1e16|1e-5|0.1 + 0.2|1/3|123456789012345678|-0.0|1e300
properties.missing|properties.missing is defined|properties.missing.x|missing|missing.x|missing[0]|properties.m.missing ~ 'x'|missing + 1|missing == missing|missing is undefined|[missing]|missing or 'd'|properties.l[10]|properties.l[-1]|properties.s[0]|properties.s[-1]|properties.s[1:4]|properties.s[::-1]|properties.l[1:]|properties.l[:-1]|properties.s[:50]|properties['m']['y']|properties.m['x']
properties.s.upper()|properties.s.lower()|properties.s.split()|properties.s.split('o')|properties.s.split('o', 1)|properties.csv.split(',')|properties.s.replace('l', 'L')|properties.s.replace('l', 'L', 1)|properties.s.startswith('He')|properties.s.endswith('x')|properties.s.find('o')|properties.s.rfind('o')|properties.s.count('o')|properties.s.title()|' a '.strip() ~ '|'|'xxaxx'.strip('x')|'a'.rjust(3) ~ '|'|'a'.ljust(3, '.')|'a'.center(4) ~ '|'|'7'.zfill(3)|'-7'.zfill(4)|'a-b-c'.rsplit('-', 1)|'a b  c'.rsplit(none, 1)|'a-b-c'.partition('-')|'a-b-c'.rpartition('-')|'a'.isdigit()|'12'.isdigit()|'aB'.swapcase()|','.join(['a', 'b'])|'abc'.index('c')|'a\\nb'.splitlines()|'{}-{}'.format(1, 'x')|'{0}{a}'.format(1, a=2)|'{:>5}|'.format('a')|'{:05d}'.format(42)|'{:.2f}'.format(3.14159)|'abc'.isalpha()|'Abc'.capitalize()|'x.y'.removesuffix('.y') if false else 1|','.join([1])
properties.m.keys()|list(properties.m) if false else 1|properties.m.keys()|list|properties.m.values()|list|properties.m.items()|list|properties.m.get('x')|properties.m.get('q')|properties.m.get('q', 5)|properties.m.copy()|properties.l.count(1)|properties.l.index(1)|'x' in properties.m|1 in properties.l|4 not in properties.l|'ell' in properties.s
""".strip()

# One expression a line, for those with filters.
FILTERED = """
properties.s|length
properties.l|length
properties.m|length
properties.s|replace('o', '0')
properties.s|replace('o', '0', 1)
'x'|int
'12'|int
'12.7'|int
'0x1f'|int(0, 16)
'x'|int(5)
3.99|int
'2.5'|float
'x'|float
3|float
properties.f|round
2.4|round
3.5|round|int
2.567|round(2)
2.541|round(1, 'ceil')
2.549|round(1, 'floor')
7|round
1234.5|round(-2)
properties.l|string
none|string
properties.l|join
properties.l|join(', ')
properties.ml|join('-', attribute='name')
properties.l|sort
properties.ls|sort
properties.ls|sort(case_sensitive=true)
properties.l|sort(reverse=true)
properties.ml|sort(attribute='v')|map(attribute='name')|list
properties.l|first
properties.l|last
properties.l|min
properties.l|max
properties.l|sum
properties.ml|sum(attribute='v')
properties.l|reverse|list
properties.s|reverse
properties.l|map('string')|list
properties.ls|map('upper')|join
properties.ml|map(attribute='name')|list
properties.ml|map(attribute='q', default='d')|list
properties.l|select('odd')|list
properties.l|reject('odd')|list
properties.ml|selectattr('v', 'equalto', 1)|list
properties.ml|rejectattr('v', 'gt', 1)|map(attribute='name')|list
[1, 1, 2]|unique|list
properties.l|batch(2)|list
properties.l|batch(2, 0)|list
properties.l|slice(2)|list
properties.ml|groupby('name')|list|length
properties.m|dictsort
properties.m|items|list
properties.m|tojson
properties.q|tojson
'<a>&'|tojson
properties.m|tojson(indent=2)
1.0|tojson
'é'|tojson
properties.s|upper
properties.s|lower
properties.s|title
'foo bar'|capitalize
' a '|trim ~ '|'
'xax'|trim('x')
'a\\nb'|indent
'a\\nb'|indent(2)
'a\\nb'|indent(2, true)
'a\\n\\nb'|indent(2)
'a\\n\\nb'|indent(2, blank=true)
'a\\nb'|indent('> ')
missing|default('d')
''|default('d')
''|default('d', true)
none|default('d')
missing|d('d')
properties.m.q|default('x') ~ 'y'
'%s is %d'|format('a', 3)
'%(a)s'|format(a=1)
-3|abs
'a'|center(5) ~ '|'
'one two three'|wordcount
'foo bar baz qux'|truncate(9)
'foo bar baz qux'|truncate(9, true)
1000|filesizeformat
1500000|filesizeformat
'<b>'|escape
'<b>'|e
'a b/c'|urlencode
properties.l|list
'abc'|list
'abc'|first
properties.m|attr('x')
[]|first
[]|max
properties.s|wordwrap(5)
'<b>x</b>'|striptags
{'a': 1, 'b': none}|xmlattr
properties.m|pprint
properties.l|random in properties.l
3 is odd
4 is even
6 is divisibleby 3
6 is divisibleby(4)
'a' is string
1 is number
true is boolean
1 is integer
1.0 is float
1 is float
true is number
true is integer
none is none
properties.m is mapping
properties.l is sequence
properties.s is sequence
properties.m is sequence
properties.l is iterable
'a' is lower
'A' is upper
1 is sameas 1
1 is eq 1
1 is in [1]
3 is gt 2
'upper' is filter
'odd' is test
range is callable
1 is not odd
1 is odd and 2 is even
not 1 is odd
1 if true else 2
1 if false
'a' if properties.n > 5 else 'b'
1 < 2 < 3
3 > 2 and 2 > 1 or false
not true
'a' < 'b'
1 == 1.0
true == 1
none == none
range(3)|list
range(1, 10, 3)|list
range(5, 0, -2)|list
range(3)
dict(a=1, b=2)
loop
self
[1, 2, 3][0]
{'a': 1}.a
{'a': 1}['a']
{1: 'x'}[1]
(1, 2)[0]
'a' 'b'
1_000
0x1f
0b11
0o17
1e3
'a' ~ 1.0 ~ true ~ none ~ [1]
properties.l|join(',')|upper
(properties.n + 1)|string + 'x'
properties.n|string ~ '-' ~ (properties.n * 2)
'abc'[0]|upper
properties.m.z[1].k
properties.s.nope
properties.s.nope()
properties.l.nope
properties.n.nope
1 + 'a'
'a' + 1
1 / 0
1 // 0
1 % 0
[] + 1
nope()
'x'|nope
1 is nope
properties.none.x
properties.t|string
properties.t|lower
properties.t|tojson
properties.none|tojson
true|int
'  12 '|int
''|int
none|int
[1, 2]|int
'1,000'|replace(',', '')|int
properties.n|replace(7, 8)
[3, 'a']|join
env.name
env['deployment']
imports['inc.jinja']
""".strip().split("\n")

TEMPLATES = [
    "a\n", "a\n\n", "{{ 1 }}\n", "\n{{ 1 }}\n\n", "{% if true %}\nx\n{% endif %}\n", "{%- if true -%}\n x \n{%- endif -%}\n y",
    "{% for i in properties.l %}{{ loop.index }}/{{ loop.length }}:{{ i }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{% for k, v in properties.m.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k in properties.m %}{{ k }}{% endfor %}",
    "{% for k, v in properties.m|dictsort %}{{ k }}{% endfor %}", "{% for i in [] %}x{% else %}none{% endfor %}",
    "{% for i in missing %}x{% else %}none{% endfor %}", "{% for i in properties.l if i > 1 %}{{ i }}{{ loop.first }}{% endfor %}",
    "{% for i in range(3) %}{{ loop.cycle('a', 'b') }}{{ loop.revindex }}{{ loop.previtem }}{{ loop.nextitem }}{% endfor %}",
    "{% for i in properties.none %}x{% endfor %}", "{% for a in 'abc' %}{{ a }}-{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set x %}a{{ 1 }}b{% endset %}{{ x|upper }}", "{% set x = [1, 2] %}{{ x + [3] }}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}{{ m(1, 2, 3) }}",
    "{% macro m(a, b='x') %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m() }}{{ m.name }}",
    "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{{ 1 + 1 }}{% endcall %}",
    "{% macro m() %}{% for i in [1, 2] %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(u) m() %}[{{ u }}]{% endcall %}",
    "{% import 'm.jinja' as m %}{{ m.res('a') }}{{ m.v }}", "{% from 'm.jinja' import res, v as w %}{{ res('a', n=2) }}{{ w }}",
    "{% include 'inc.jinja' %}!", "{% set x = 'y' %}{% include 'inc.jinja' %}!", "{% include 'none.jinja' ignore missing %}x", "{% include 'none.jinja' %}",
    "{% include ['none.jinja', 'inc.jinja'] %}", "{% extends 'base.jinja' %}{% block b %}[{{ super() }}]{% endblock %}",
    "{% raw %}{{ x + 1 }}{% endraw %}", "{# c + d #}x", "{% filter upper %}a{{ 'b' }}{% endfilter %}", "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}",
    "{% if 1 %}a{% elif 2 %}b{% else %}c{% endif %}", "{% if properties.l and not properties.none %}y{% endif %}", "{% if missing %}y{% else %}n{% endif %}",
    "{{ '{{' }}", "{{ \"a\\tb\" }}", "{{ 'a\\\\b' }}", "{{ properties.l|length + 1 }}", "{{ 'a' if 0 else 'b' }}{{ 'x' }}",
    "{% for i in range(2) recursive %}{{ i }}{% endfor %}", "{% block a %}x{% endblock %}{{ self.a() }}", "{% autoescape true %}{{ '<' }}{% endautoescape %}",
    "{%- for i in [1, 2] %}\n- {{ i }}\n{%- endfor %}\n", "  {%- set x = 1 %}  \n{{ x }}", "{%+ if true %}x{% endif %}", "{{- 1 -}}  x", "a  {{- 1 }}",
    "{{ properties['a' ~ 'b'] }}", "{{ [1, 2]|map('string')|join('+') }}", "{{ joiner is defined }}{{ cycler is defined }}{{ lipsum is defined }}",
    "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}", "{% set j = joiner(',') %}{{ j() }}a{{ j() }}b",
    "{% for g, items in properties.ml|groupby('v') %}{{ g }}:{{ items|map(attribute='name')|join }};{% endfor %}",
    "{% if x is defined and x.y %}a{% endif %}b", "{{ x }", "{{ x", "{% if %}", "{% endfor %}", "{% nope %}", "{{ 1 + }}", "{{ 'a }}", "{% for %}", "{{ a b }}",
    "{% if properties.n == 7 -%}\n  yes\n{%- endif %}", "x{{ '' }}y\n\n", "{{ [properties.q, properties.s]|tojson }}", "{{ '%s' % properties.s|upper }}", "{{ ('%s' % properties.s)|upper }}",
    "{{ 10 - 2 - 3 }}{{ 2 * 3 % 4 }}{{ 100 // 7 % 5 }}{{ 'a' ~ 'b' * 2 }}{{ -2 ** 2 }}{{ 1 - -1 }}{{ +1 }}",
    "a\r\nb\r\n{{ 1 }}\r\n", "{% set x %}a\r\nb{% endset %}{{ x|length }}", "{{ 'a\r\nb'|length }}\r{# c\r\n #}\r\nx", "{% raw %}\r\n{% endraw %}\r\n",
    "{% set _ = 1 %}{{ _ }}", "{{ properties.items()|list|length }}", "{% for x in properties.ml %}{{ x.name }}{{ x['v'] }}{% endfor %}",
]


def main():
    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols"]
    environment = jinja2.Environment(loader=jinja2.DictLoader(FILES), extensions=extensions)
    sources = ["{{ " + e + " }}" for line in EXPRESSIONS.split("\n") for e in cut(line)]
    sources += ["{{ " + e.replace("\\n", "\n") + " }}" for e in FILTERED] + TEMPLATES
    here = pathlib.Path(__file__)
    sources += here.with_name("snippets.txt").read_text().splitlines()
    sources += here.with_name("templates.txt").read_text().split("\n=====\n")
    env = {"name": "web", "type": "t.jinja", "deployment": "d", "project": "p", "project_number": 12, "current_time": 1450000000}
    facts = []
    for source in dict.fromkeys(sources):
        try:
            printed = environment.from_string(source).render(env=dict(env), properties=copy.deepcopy(PROPERTIES), imports=dict(FILES))
        except Exception:
            printed = None
        facts.append({"template": source, "prints": printed})
    json.dump({"properties": PROPERTIES, "env": env, "files": FILES, "facts": facts}, sys.stdout, indent=1, ensure_ascii=False)
    print()


def cut(line):
    """Expressions between bars; a bar within quotes, or before a filter's name, belongs to one."""
    parts, quoted = [""], None
    for character in line:
        if quoted is None and character == "|":
            parts.append("")
            continue
        if character in "'\"" and quoted in (None, character):
            quoted = None if quoted else character
        parts[-1] += character
    return [p for p in parts if p not in ("list",)]


main()
