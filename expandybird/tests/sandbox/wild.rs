//! Real Python: modules, idioms and classes of authors, and the hints for Python 2 code.

use serde_json::{Value, json};

use crate::support::Request;
use crate::{body, error, result};

/// Every module that templates in the wild import, doing what it is imported for.
const MODULES: &[(&str, &str)] = &[
    (
        "copy",
        "a = {'l': [1]}\nb = copy.deepcopy(a)\nb['l'].append(2)\nreturn len(a['l']) == 1",
    ),
    (
        "json",
        "return json.loads(json.dumps({'a': [1, None]}, indent=2, sort_keys=True)) == {'a': [1, None]}",
    ),
    (
        "types",
        "return isinstance(lambda: 1, types.FunctionType) and types.SimpleNamespace(a=1).a == 1",
    ),
    (
        "re",
        "return re.sub(r'[^a-z0-9-]', '-', 'My App'.lower()) == 'my-app' and bool(re.match('a+', 'aab'))",
    ),
    (
        "os.path",
        "return os.path.join('a', 'b') + os.path.splitext('c.py')[1] == 'a/b.py' and os.path.basename('/x/y') == 'y'",
    ),
    (
        "string",
        "return string.Template('$a-x').substitute(a=1) == '1-x' and string.ascii_lowercase[:2] == 'ab'",
    ),
    (
        "hashlib",
        "return hashlib.sha1(b'a').hexdigest()[:6] == '86f7e4' and len(hashlib.sha256('a'.encode()).hexdigest()) == 64 and len(hashlib.md5(b'').hexdigest()) == 32",
    ),
    ("math", "return math.ceil(1.2) == 2 and math.log(8, 2) == 3"),
    (
        "datetime",
        "return (datetime.datetime(2016, 1, 31) + datetime.timedelta(days=1)).strftime('%Y-%m-%d') == '2016-02-01' and datetime.datetime.strptime('2016', '%Y').year == 2016",
    ),
    (
        "collections",
        "d = collections.defaultdict(list)\nd['a'].append(1)\nreturn collections.Counter('aab')['a'] == 2 and collections.namedtuple('P', 'x y')(1, 2).y == 2 and list(collections.OrderedDict(a=1)) == ['a'] and dict(d) == {'a': [1]}",
    ),
    (
        "collections.abc",
        "return isinstance({}, collections.abc.Mapping)",
    ),
    (
        "functools",
        "return functools.reduce(lambda a, b: a + b, [1, 2]) == 3 and functools.partial(int, base=2)('10') == 2 and functools.lru_cache()(len)('a') == 1",
    ),
    (
        "itertools",
        "return list(itertools.chain([1], itertools.islice(itertools.count(2), 2))) == [1, 2, 3] and len(list(itertools.product('ab', 'cd'))) == 4",
    ),
    (
        "operator",
        "return sorted([{'a': 2}, {'a': 1}], key=operator.itemgetter('a'))[0]['a'] == 1",
    ),
    (
        "base64",
        "return base64.b64encode('a:b'.encode()).decode() == 'YTpi' and base64.urlsafe_b64decode('YTpi') == b'a:b'",
    ),
    (
        "random",
        "return random.Random(1).randint(0, 9) == random.Random(1).randint(0, 9) and random.choice([1]) == 1 and len(random.sample(range(9), 3)) == 3",
    ),
    (
        "textwrap",
        "return textwrap.dedent('  a\\n  b') == 'a\\nb' and textwrap.indent('a', '  ') == '  a'",
    ),
    (
        "ipaddress",
        "return str(list(ipaddress.ip_network('10.0.0.0/30').hosts())[0]) == '10.0.0.1' and ipaddress.ip_address('10.0.0.1').is_private",
    ),
    (
        "uuid",
        "return str(uuid.uuid5(uuid.NAMESPACE_DNS, 'a.b')) == str(uuid.uuid5(uuid.NAMESPACE_DNS, 'a.b')) and len(str(uuid.uuid4())) == 36",
    ),
    (
        "urllib.parse",
        "return urllib.parse.urlparse('http://a/b?c=1').netloc == 'a' and urllib.parse.quote('a b') == 'a%20b' and urllib.parse.urlencode({'a': 1}) == 'a=1'",
    ),
    (
        "decimal",
        "return str(decimal.Decimal('0.1') + decimal.Decimal('0.2')) == '0.3'",
    ),
    ("enum", "E = enum.Enum('E', 'A B')\nreturn E.A.name == 'A'"),
    (
        "io",
        "s = io.StringIO()\ns.write('a')\nreturn s.getvalue() == 'a'",
    ),
    (
        "csv",
        "import io\nreturn list(csv.reader(io.StringIO('a,b')))[0] == ['a', 'b']",
    ),
    ("zlib", "return zlib.crc32(b'a') == 3904355907"),
    (
        "gzip",
        "return gzip.decompress(gzip.compress(b'a')) == b'a'",
    ),
    ("binascii", "return binascii.hexlify(b'a') == b'61'"),
    ("struct", "return struct.pack('>H', 1) == b'\\x00\\x01'"),
    (
        "logging",
        "logging.getLogger('t').warning('x')\nreturn True",
    ),
    ("typing", "return typing.cast(int, 1) == 1"),
    (
        "dataclasses",
        "@dataclasses.dataclass\nclass P:\n    x: int\n    tags: list = dataclasses.field(default_factory=list)\nreturn dataclasses.asdict(P(1)) == {'x': 1, 'tags': []}",
    ),
    (
        "contextlib",
        "@contextlib.contextmanager\ndef c(): yield 1\nwith c() as v: return v == 1",
    ),
    (
        "traceback",
        "try: 1 / 0\nexcept ZeroDivisionError: return 'ZeroDivisionError' in traceback.format_exc()",
    ),
    ("ast", "return ast.literal_eval('[1, 2]') == [1, 2]"),
    ("fnmatch", "return fnmatch.fnmatch('a.py', '*.py')"),
    (
        "difflib",
        "return difflib.get_close_matches('zon', ['zone']) == ['zone']",
    ),
    ("html", "return html.escape('<a>') == '&lt;a&gt;'"),
    ("secrets", "return len(secrets.token_hex(4)) == 8"),
    (
        "time",
        "return time.strftime('%Y', time.gmtime(0)) == '1970'",
    ),
    ("calendar", "return calendar.monthrange(2016, 2)[1] == 29"),
    (
        "unicodedata",
        "return unicodedata.normalize('NFKD', 'é')[0] == 'e'",
    ),
    ("warnings", "warnings.warn('x')\nreturn True"),
    (
        "six",
        "return six.text_type('a') == 'a' and list(six.iteritems({'a': 1})) == [('a', 1)] and isinstance('a', six.string_types) and list(six.moves.range(2)) == [0, 1] and six.PY3",
    ),
    (
        "six.moves.urllib.parse",
        "return six.moves.urllib.parse.quote('a b') == 'a%20b'",
    ),
    (
        "yaml",
        "return yaml.safe_load('a: [1, yes]') == {'a': [1, True]} and yaml.dump({'a': [1]}, default_flow_style=False) == 'a:\\n- 1\\n' and yaml.load('a: 1', Loader=yaml.SafeLoader) == {'a': 1} and yaml.load('a: 1', yaml.FullLoader) == {'a': 1} and list(yaml.safe_load_all('a\\n---\\nb')) == ['a', 'b']",
    ),
    (
        "jinja2",
        "e = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined, loader=jinja2.DictLoader({'a': '{% for x in l %}{{ x|upper }}{% endfor %}'}))\nreturn e.get_template('a').render(l='ab') == 'AB' and e.from_string('{{ x }}').render(x=1) == '1' and jinja2.Template('{{ a.b }}').render(a={'b': 2}) == '2'",
    ),
];

#[tokio::test]
async fn every_module_that_templates_import_works() {
    let sandbox = crate::sandbox().await;
    for (module, code) in MODULES {
        let top = module.split('.').next().unwrap();
        let imports = format!("import {module}\nimport {top}\n");
        let source = format!(
            "{imports}def GenerateConfig(context):\n{}\n",
            indented(code)
        );
        let output = Request::template(&source).run(&sandbox).await;
        let output = output.unwrap_or_else(|error| panic!("{module}: {error}"));
        assert_eq!(
            serde_json::to_value(output.result).unwrap(),
            json!({"data": true}),
            "{module}"
        );
    }
}

fn indented(code: &str) -> String {
    let lines = code.lines().map(|line| format!("    {line}\n"));
    lines.collect()
}

/// In the manner of the samples that came with Google's Deployment Manager.
const INSTANCE: &str = r#"
"""Creates a virtual machine and its disk."""
import common
from helpers import naming as n

COMPUTE_URL_BASE = 'https://www.googleapis.com/compute/v1/'
REQUIRED = ('zone', 'machineType')


def GlobalComputeUrl(project, collection, name):
  return ''.join([COMPUTE_URL_BASE, 'projects/', project, '/global/', collection, '/', name])


def ZonalComputeUrl(project, zone, collection, name):
  return '%sprojects/%s/zones/%s/%s/%s' % (COMPUTE_URL_BASE, project, zone, collection, name)


class Disk(object):
  kinds = {}

  def __init__(self, name, size=10, **options):
    self.name, self.size, self.options = name, size, options

  @property
  def resource(self):
    return {'name': self.name, 'type': 'compute.v1.disk',
            'properties': dict(self.options, sizeGb=self.size)}

  @classmethod
  def of(cls, context):
    return cls('{}-disk'.format(context.env['name']), zone=context.properties['zone'])

  def __repr__(self):
    return 'Disk(%r)' % self.name


def _Checked(function):
  def wrapped(context):
    missing = [key for key in REQUIRED if key not in context.properties]
    assert not missing, 'missing: ' + ', '.join(missing)
    return function(context)
  return wrapped


@_Checked
def GenerateConfig(context):
  project, zone = context.env['project'], context.properties.get('zone', 'nowhere')
  disk = Disk.of(context)
  tags = sorted({tag for tag in context.properties.get('tags') or ()})
  metadata = [{'key': key, 'value': value}
              for key, value in sorted(context.properties.get('metadata', {}).items())]
  metadata.append({'key': 'startup-script', 'value': context.imports['startup.sh']})
  resources = [disk.resource, {
      'name': n.Short(context.env['name'], common.LIMIT),
      'type': 'compute.v1.instance',
      'properties': {
          'zone': zone,
          'machineType': ZonalComputeUrl(project, zone, 'machineTypes', context.properties['machineType']),
          'networkInterfaces': [{'network': GlobalComputeUrl(project, 'networks', 'default'),
                                 'accessConfigs': [{'name': 'nat', 'type': 'ONE_TO_ONE_NAT'}]}],
          'disks': [{'deviceName': repr(disk), 'source': '$(ref.%s.selfLink)' % disk.name}],
          'tags': {'items': tags},
          'metadata': {'items': metadata},
      },
  }]
  for index in range(int(context.properties.get('count', 0))):
    resources.append(dict(resources[0], name='extra%02d' % index))
  return {'resources': resources, 'outputs': [{'name': 'ip', 'value': '$(ref.vm.networkIP)'}]}
"#;

#[tokio::test]
async fn a_template_in_the_manner_of_googles_samples_works_as_written() {
    let request = Request::template(INSTANCE)
        .at("templates/vm.py")
        .import_at("common.py", "templates/common.py", "LIMIT = 20\n")
        .import_at("helpers/__init__.py", "templates/helpers/__init__.py", "")
        .import_at(
            "helpers/naming.py",
            "templates/helpers/naming.py",
            "from . import __name__ as package\nimport common\ndef Short(name, limit):\n    assert package == 'helpers' and common.LIMIT == 20\n    return name[:limit]\n",
        )
        .import("startup.sh", "#!/bin/sh\necho hi\n")
        .env("project", "p")
        .properties(json!({"zone": "z", "machineType": "n1", "tags": ["b", "a", "b"], "metadata": {"k": "v"}, "count": 1}));
    let expected = json!({
        "resources": [
            {"name": "vm-disk", "type": "compute.v1.disk", "properties": {"zone": "z", "sizeGb": 10}},
            {"name": "vm", "type": "compute.v1.instance", "properties": {
                "zone": "z",
                "machineType": "https://www.googleapis.com/compute/v1/projects/p/zones/z/machineTypes/n1",
                "networkInterfaces": [{"network": "https://www.googleapis.com/compute/v1/projects/p/global/networks/default",
                    "accessConfigs": [{"name": "nat", "type": "ONE_TO_ONE_NAT"}]}],
                "disks": [{"deviceName": "Disk('vm-disk')", "source": "$(ref.vm-disk.selfLink)"}],
                "tags": {"items": ["a", "b"]},
                "metadata": {"items": [{"key": "k", "value": "v"}, {"key": "startup-script", "value": "#!/bin/sh\necho hi\n"}]}}},
            {"name": "extra00", "type": "compute.v1.disk", "properties": {"zone": "z", "sizeGb": 10}}],
        "outputs": [{"name": "ip", "value": "$(ref.vm.networkIP)"}]});
    assert_eq!(result(request).await.unwrap(), expected);
}

#[tokio::test]
async fn results_take_any_shape_that_data_has() {
    let cases = [
        (
            "dict(a=(1, 2), b=range(2).stop)",
            json!({"a": [1, 2], "b": 2}),
        ),
        (
            "{'a': 9007199254740993, 'b': -2**63}",
            json!({"a": 9007199254740993u64, "b": i64::MIN}),
        ),
        (
            "{'a': __import__('datetime').datetime(2016, 1, 2, 3, 4)}",
            json!({"a": "2016-01-02T03:04:00"}),
        ),
        (
            "{'a': {1: {2: 'x'}}, None: 1}",
            json!({"a": {"1": {"2": "x"}}, "null": 1}),
        ),
        (
            "__import__('collections').defaultdict(list, a=[1])",
            json!({"a": [1]}),
        ),
        (
            "{'a': __import__('collections').namedtuple('P', 'x y')(1, 2)}",
            json!({"a": [1, 2]}),
        ),
        (
            "{'a': __import__('enum').IntEnum('E', 'A').A}",
            json!({"a": 1}),
        ),
        (
            "{'a': True, 'b': 1.5, 'c': 1e100, 'd': ''}",
            json!({"a": true, "b": 1.5, "c": 1e100, "d": ""}),
        ),
        (
            "{'a': [x for x in (y * 2 for y in range(3))]}",
            json!({"a": [0, 2, 4]}),
        ),
    ];
    for (expression, expected) in cases {
        let got = result(body(&format!("return {expression}"))).await;
        assert_eq!(got.unwrap(), expected, "{expression}");
    }
    let shared = "a = {'k': 1}\nreturn {'x': a, 'y': [a, a]}";
    assert_eq!(
        result(body(shared)).await.unwrap(),
        json!({"x": {"k": 1}, "y": [{"k": 1}, {"k": 1}]})
    );
}

#[tokio::test]
async fn what_is_no_result_names_its_place_and_its_type() {
    let cases = [
        ("{'a': {1, 2}}", "a: a value of type set"),
        ("{'a': frozenset()}", "a: a value of type frozenset"),
        ("{'a': (x for x in [])}", "a: a value of type generator"),
        ("{'a': {}.keys()}", "a: a value of type dict_keys"),
        ("{'a': b'x'}", "a: a value of type bytes"),
        ("{'a': {'b': [object()]}}", "a.b[0]: a value of type object"),
        (
            "{'a': len}",
            "a: a value of type builtin_function_or_method",
        ),
        ("{'a': context}", "a: a value of type Context"),
        ("{'a': 10**30}", "a: an integer beyond 64 bits"),
        ("{'a': float('inf')}", "a: inf is not a JSON number"),
        ("context", "the result: a value of type Context"),
        ("GenerateConfig", "the result: a value of type function"),
    ];
    for (expression, expected) in cases {
        let error = error(body(&format!("return {expression}"))).await;
        let failure = error.failure().unwrap();
        assert!(
            failure.message.starts_with(expected),
            "{expression}: {}",
            failure.message
        );
    }
}

#[tokio::test]
async fn errors_have_the_line_of_the_template_wherever_they_arise() {
    let cases = [
        ("context.properties['zone']", 2, "KeyError"),
        ("context.env['nope']", 2, "KeyError"),
        ("context.imports['nope.txt']", 2, "KeyError"),
        ("import yaml\nyaml.load('a: 1')", 3, "TypeError"),
        ("import yaml\nyaml.safe_load('a: [')", 3, "ParserError"),
        (
            "import jinja2\njinja2.Template('{{').render()",
            3,
            "TemplateSyntaxError",
        ),
        (
            "import jinja2\njinja2.Template('{{ a.b.c }}').render()",
            3,
            "UndefinedError",
        ),
        ("x = 1\nassert x == 2, 'x is wrong'", 3, "AssertionError"),
        ("def f():\n    raise Exception('deep')\nf()", 3, "Exception"),
        ("raise KeyboardInterrupt", 2, "KeyboardInterrupt"),
        ("class E(BaseException): pass\nraise E('odd')", 3, "E"),
        ("exec('1 +')", 2, "SyntaxError"),
    ];
    for (code, line, exception) in cases {
        let request = body(code).properties(Value::Object(Default::default()));
        let error = error(request).await;
        let failure = error.failure().unwrap_or_else(|| panic!("{code}: {error}"));
        let innermost = failure.frames.last().unwrap();
        assert_eq!(
            (failure.exception.as_str(), innermost.line),
            (exception, line),
            "{code}: {failure:?}"
        );
        assert!(
            failure.frames.iter().all(|frame| frame.file == "vm.py"),
            "{failure:?}"
        );
    }
}
