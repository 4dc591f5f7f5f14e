//! What Python templates may return, raise, print and write into their own channel, put together of hostile values.

use common::api::expander::ExpandRequest;
use fastrand::Rng;

use crate::requests::request;

/// Classes that do not behave as what they are taken for, a value in itself, a deep one and a wide one.
const PRELUDE: &str = r#"
import datetime, os, sys

class Endless(list):
    def __iter__(self): return iter(int, 1)

class Map(dict):
    def items(self): return iter(lambda: ('a', 1), None)
    def keys(self): return self

class Text(str):
    def __str__(self): return self * 1000
    def encode(self, *_): return b'\xff'

class Number(int):
    def __int__(self): raise ValueError
    def __index__(self): return self
    def __repr__(self): return 'NaN'

class Liar:
    def __getattribute__(self, name): raise SystemExit
    def __class__(self): return dict

class Named(type):
    def __instancecheck__(self, other): raise KeyboardInterrupt
    __name__ = property(lambda self: 'x' * 10**7)

class Heavy(Exception, metaclass=Named):
    def __str__(self): return 'x' * 10**7

class Kept:
    def __del__(self): print('x' * 1000)

loop = []
loop.append(loop)
circle = {}
circle['a'] = [circle]
deep = []
for _ in range(100000): deep = [deep]
wide = [0] * 10**6

def channel(data):
    for fd in range(3, 32):
        try: os.write(fd, data)
        except OSError: pass

def frame(text):
    channel(len(text).to_bytes(4, 'little') + text)
"#;

const VALUES: [&str; 40] = [
    "None",
    "True",
    "-1",
    "10**5000",
    "2**64",
    "1e308 * 10",
    "float('nan')",
    "''",
    "'a'",
    "'x' * 10**7",
    "'a: ' * 10**5",
    "'\\ud800'",
    "'\\0\\u2028\\x85'",
    "'$(ref.a.b)$(ref.a.b.c)'",
    "'{{ 1 }}'",
    "'&a [*a, *a]'",
    "'a: &a [x, x]\\n' + ''.join('%s: &%s [*%s, *%s]\\n' % (chr(98 + n), chr(98 + n), chr(97 + n), chr(97 + n)) for n in range(20))",
    "'[' * 10**5",
    "'!!python/object/apply:os.system [id]'",
    "b'\\xff' * 100",
    "bytearray(10**6)",
    "loop",
    "circle",
    "deep",
    "wide",
    "range(10**9)",
    "iter(int, 1)",
    "{1: 2, None: 3, 'a': 4}",
    "{('a',): 1, 'a': float('nan')}",
    "set([1])",
    "datetime.date(1, 1, 1)",
    "Endless([1])",
    "Map(a=1)",
    "Text('a')",
    "Number(7)",
    "Liar()",
    "Heavy",
    "Kept()",
    "sys.modules",
    "context",
];

/// Statements with a hole for a value.
const ENDS: [&str; 28] = [
    "return V",
    "return str(V)",
    "return {V: 1}",
    "return {'resources': V}",
    "return {'resources': [V]}",
    "return {'resources': [{'name': V, 'type': 'T'}]}",
    "return {'resources': [{'name': 'b', 'type': V}]}",
    "return {'resources': [{'name': 'b', 'type': 'T', 'properties': V}]}",
    "return {'resources': [{'name': 'b', 'type': 'T', 'properties': {'a': V}}]}",
    "return {'resources': [{'name': 'b', 'type': 'T', 'metadata': V}]}",
    "return {'resources': [{'name': 'b', 'type': 'T', 'metadata': {'dependsOn': V}}]}",
    "return {'resources': [{'name': 'b', 'type': 't.py', 'properties': V}]}",
    "return {'resources': [], 'outputs': V}",
    "return {'resources': [], 'outputs': [V]}",
    "return {'resources': [], 'outputs': [{'name': V, 'value': 1}]}",
    "return {'resources': [], 'outputs': [{'name': 'o', 'value': V}]}",
    "raise Exception(V)",
    "raise Heavy(V)",
    "raise type('E', (Exception,), {'__str__': lambda self: V, '__cause__': property(lambda self: self)})()",
    "sys.exit(V)",
    "print(V)\n    return {'resources': []}",
    "context.env = context.properties = context.imports = V\n    return {'resources': []}",
    "sys.stdout = sys.stderr = V\n    print(1)\n    return {'resources': []}",
    "sys.setrecursionlimit(10**9)\n    def down(): return down()\n    return down()",
    "import builtins\n    builtins.len = builtins.type = builtins.str = V\n    return {'resources': []}",
    "channel(bytes(V)[:10**6])\n    return {'resources': []}",
    "frame(('{\"returned\": {\"result\": {\"data\": \"%s\"}, \"printed\": \"\"}}' % (V,)).encode())\n    return {}",
    "frame(('{\"failed\": {\"kind\": \"raised\", \"exception\": \"%s\", \"message\": \"%s\", \"frames\": [], \"hint\": null}}' % (V, V)).encode())\n    return {}",
];

/// Each value at a place of chance, and each place with a value of chance.
pub fn requests(random: &mut Rng) -> Vec<ExpandRequest> {
    let mut pairs: Vec<(&str, &str)> = VALUES
        .map(|value| (value, ENDS[random.usize(..ENDS.len())]))
        .into();
    pairs.extend(ENDS.map(|end| (VALUES[random.usize(..VALUES.len())], end)));
    pairs
        .into_iter()
        .map(|(value, end)| {
            let end = end.replace('V', value);
            let template = format!("{PRELUDE}\ndef GenerateConfig(context):\n    {end}\n");
            request("t.py", &template)
        })
        .collect()
}
