//! What one template leaves behind for the next: nothing.

use expandybird::sandbox::TemplateResult;
use serde_json::json;

use crate::result_of;
use crate::support::{Request, sandbox};

/// Changes whatever can be changed from within.
const LEAVE: &str = "
import builtins, copy, datetime, decimal, importlib, io, jinja2, json, locale, logging, os
import random, re, string, sys, time, types, warnings, yaml
gc, signal = map(importlib.import_module, ('gc', '_signal'))
os.environ['LEFT'] = os.environ['PATH'] = '1'
sys.modules['left'] = json
sys.path.append('/left')
sys.argv.append('left')
sys.meta_path.clear()
sys.setrecursionlimit(123)
sys.settrace(None)
sys.stdout = None
builtins.left = json.left = 1
builtins.sorted = builtins.print = None
builtins.__import__ = None
json.dumps = json.loads = None
re.compile('left')
time.time = lambda: 7
datetime.datetime = None
random.seed(1)
random.random()
random.choice = None
decimal.getcontext().prec = 3
gc.disable()
warnings.simplefilter('error')
logging.getLogger().setLevel(logging.DEBUG)
string.ascii_letters = 'left'
yaml.SafeLoader.add_constructor('!left', lambda *_: 'left')
yaml.SafeLoader.yaml_implicit_resolvers.clear()
jinja2.filters.FILTERS['left'] = len
jinja2.defaults.DEFAULT_NAMESPACE['left'] = 1
gc, signal = map(importlib.import_module, ('gc', '_signal'))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try: open('/tmp/expandybird-left', 'w')
except OSError: pass
return {}";

/// Shows what the one above may have changed.
const LOOK: &str = "
import builtins, datetime, decimal, importlib, jinja2, json, logging, os
import random, string, sys, time, uuid, warnings, yaml
gc, signal = map(importlib.import_module, ('gc', '_signal'))
return [
    dict(os.environ), sorted(sys.modules), sys.path, sys.argv, [str(f) for f in sys.meta_path[1:]],
    sys.getrecursionlimit(), type(sys.stdout).__name__, sorted(vars(builtins)), sorted(vars(json)),
    sorted([1]), json.loads(json.dumps({'a': 1})), time.time(), str(datetime.datetime.now()),
    random.random(), random.choice('abcdef'), str(uuid.uuid4()), decimal.getcontext().prec,
    gc.isenabled(), [str(f) for f in warnings.filters], logging.getLogger().level,
    string.ascii_letters, yaml.safe_load('[1, yes]'), sorted(str(k) for k in yaml.SafeLoader.yaml_constructors),
    sorted(jinja2.filters.FILTERS), sorted(jinja2.defaults.DEFAULT_NAMESPACE),
    signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, os.path.exists('/tmp/expandybird-left'), hash('a'),
]";

#[tokio::test]
async fn nothing_of_one_session_is_seen_by_the_next() {
    let sandbox = sandbox().await;
    let before = result_of(&sandbox, LOOK).await;
    assert_eq!(before[0], json!({"TZ": "UTC0"}));
    // As many as are forked ahead, and more.
    for _ in 0..3 {
        result_of(&sandbox, LEAVE).await;
        assert_eq!(result_of(&sandbox, LOOK).await, before);
    }
}

#[tokio::test]
async fn a_thousand_instances_share_a_session_but_no_globals() {
    let sandbox = sandbox().await;
    let source = "count = []\ndef GenerateConfig(context):\n    count.append(1)\n    return {'resources': [{'name': context.env['name'], 'n': len(count)}]}\n";
    let request = Request::template(source);
    let mut session = request.open(&sandbox).await.unwrap();
    for _ in 0..1000 {
        let output = session.call(request.call()).await.unwrap();
        assert_eq!(
            output.result,
            TemplateResult::Data(json!({"resources": [{"name": "vm", "n": 1}]}))
        );
    }
}

#[tokio::test]
async fn what_one_template_prints_is_not_told_of_the_next() {
    let sandbox = sandbox().await;
    let source = "def GenerateConfig(context):\n    if context.properties: print('left')\n    return 1 // (not context.properties)\n";
    let request = Request::template(source).properties(json!(true));
    let mut session = request.open(&sandbox).await.unwrap();
    session.call(request.call()).await.unwrap_err();
    let next = request.properties(json!(false));
    let output = session.call(next.call()).await.unwrap();
    assert_eq!(output.printed, "");
}
