//! Python templates in their processes: what they may do, what they may not, and what is left after them.
//!
//! Needs the worker program built beside the tests, as `cargo test --workspace` does.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod support;

use expandybird::sandbox::{Exit, SandboxError, TemplateResult};
use serde_json::{Value, json};
use support::{Request, sandbox};

async fn result(request: Request) -> Result<Value, SandboxError> {
    let sandbox = sandbox().await;
    let output = request.run(&sandbox).await?;
    match output.result {
        TemplateResult::Data(value) => Ok(value),
        TemplateResult::Text(text) => Ok(Value::String(text)),
    }
}

/// The body of a `GenerateConfig(context)`.
fn body(lines: &str) -> Request {
    let indented: Vec<String> = lines.lines().map(|line| format!("    {line}")).collect();
    Request::template(&format!(
        "def GenerateConfig(context):\n{}\n",
        indented.join("\n")
    ))
}

async fn error(request: Request) -> SandboxError {
    match result(request).await {
        Ok(value) => panic!("expected an error, the template returned {value}"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_template_returns_data_or_text() {
    let data = result(body(
        "return {'resources': [{'name': context.env['name']}]}",
    ))
    .await
    .unwrap();
    assert_eq!(data, json!({"resources": [{"name": "vm"}]}));
    let text = result(body("return 'resources: []'")).await.unwrap();
    assert_eq!(text, json!("resources: []"));
    let alias = Request::template("def generate_config(context): return {}");
    assert_eq!(result(alias).await.unwrap(), json!({}));
}

#[tokio::test]
async fn a_template_sees_its_properties_or_none() {
    let given = json!({"a": [1, 2.5, true, null, "é", 18446744073709551615u64]});
    let echo = body("return context.properties").properties(given.clone());
    assert_eq!(result(echo).await.unwrap(), given);
    assert_eq!(
        result(body("return context.properties is None"))
            .await
            .unwrap(),
        json!(true)
    );
}

#[tokio::test]
async fn imports_are_texts_by_name() {
    let request = body("return context.imports['note.txt']").import("note.txt", "hello");
    assert_eq!(result(request).await.unwrap(), json!("hello"));
}

#[tokio::test]
async fn results_become_json_as_json_dumps_would_make_them() {
    let cases = [
        ("(1, 'a')", json!([1, "a"])),
        (
            "__import__('collections').OrderedDict([('b', 1), ('a', 2)])",
            json!({"b": 1, "a": 2}),
        ),
        (
            "{1: 'int', True: 'x', None: 'n', 2.5: 'f'}",
            json!({"1": "x", "null": "n", "2.5": "f"}),
        ),
        (
            "__import__('datetime').date(2016, 1, 2)",
            json!("2016-01-02"),
        ),
        ("2**64 - 1", json!(18446744073709551615u64)),
        (
            "__import__('yaml').safe_load('{a: [1, yes]}')",
            json!({"a": [1, true]}),
        ),
        ("__import__('six').text_type('x')", json!("x")),
        (
            "__import__('jinja2').Template('{{ a }}!').render(a=1)",
            json!("1!"),
        ),
    ];
    for (expression, expected) in cases {
        let got = result(body(&format!("return {expression}"))).await.unwrap();
        assert_eq!(got, expected, "{expression}");
    }
}

#[tokio::test]
async fn what_is_no_json_is_named_with_its_place() {
    let cases = [
        (
            "{'a': [0, {1}]}",
            "a[1]: a value of type set cannot be in a result",
        ),
        ("{'a': 2**64}", "a: an integer beyond 64 bits"),
        ("[float('nan')]", "[0]: NaN is no JSON number"),
        (
            "{(1, 2): 1}",
            "the result: a key of type tuple cannot be in a result",
        ),
        ("{'a': '\\ud800'}", "a: a text that is not valid Unicode"),
    ];
    for (expression, expected) in cases {
        let error = error(body(&format!("return {expression}"))).await;
        let SandboxError::InvalidResult(failure) = error else {
            panic!("{expression}: {error}");
        };
        assert_eq!(failure.message, expected, "{expression}");
    }
    let endless = error(body("a = []\na.append(a)\nreturn a")).await;
    assert!(endless.to_string().contains("contains itself"), "{endless}");
}

#[tokio::test]
async fn helper_modules_are_found_by_name_by_path_and_beside_the_template() {
    let cases = [
        ("helper.py", "helper.py", "import helper; V = helper.V"),
        ("lib.py", "some/folder/lib.py", "import lib; V = lib.V"),
        (
            "helpers/common.py",
            "helpers/common.py",
            "import helpers.common; V = helpers.common.V",
        ),
        (
            "helpers/common.py",
            "a/helpers/common.py",
            "from helpers import common; V = common.V",
        ),
        (
            "common.py",
            "a/helpers/common.py",
            "from helpers.common import V",
        ),
        (
            "sibling.py",
            "templates/sibling.py",
            "import sibling; V = sibling.V",
        ),
        (
            "pkg/__init__.py",
            "pkg/__init__.py",
            "import pkg; V = pkg.V",
        ),
        ("up.py", "../up.py", "import up; V = up.V"),
        (
            "platform.py",
            "platform.py",
            "import platform; V = platform.V",
        ),
    ];
    for (name, path, import) in cases {
        let source = format!("{import}\ndef GenerateConfig(context): return V\n");
        let request = Request::template(&source).at("templates/vm.py").import_at(
            name,
            path,
            "import json\nV = json.dumps('found')\n",
        );
        assert_eq!(
            result(request).await.unwrap(),
            json!("\"found\""),
            "{import}"
        );
    }
}

#[tokio::test]
async fn templates_of_two_folders_each_find_their_own_neighbour() {
    let source = "import common\ndef GenerateConfig(context): return common.V";
    let request = Request::template(source)
        .at("a/vm.py")
        .import_at("b/vm.py", "b/vm.py", source)
        .import_at("a/common.py", "a/common.py", "V = 'a'")
        .import_at("b/common.py", "b/common.py", "V = 'b'");
    let sandbox = sandbox().await;
    let mut session = request.open(&sandbox).await.unwrap();
    for (template, expected) in [("vm.py", "a"), ("b/vm.py", "b"), ("vm.py", "a")] {
        let output = session.call(request.call_of(template)).await.unwrap();
        assert_eq!(
            output.result,
            TemplateResult::Data(json!(expected)).text(),
            "{template}"
        );
    }
}

trait Text {
    fn text(self) -> TemplateResult;
}

impl Text for TemplateResult {
    fn text(self) -> TemplateResult {
        match self {
            TemplateResult::Data(Value::String(text)) => TemplateResult::Text(text),
            other => other,
        }
    }
}

#[tokio::test]
async fn a_template_cannot_write_to_its_callers_data() {
    let request = body("context.env['name'] = 'x'\ncontext.imports['n'] = 1\ncontext.properties['l'].append(1)\nreturn len(context.properties['l'])")
        .properties(json!({"l": []}));
    let sandbox = sandbox().await;
    let mut session = request.open(&sandbox).await.unwrap();
    for _ in 0..2 {
        let output = session.call(request.call()).await.unwrap();
        assert_eq!(output.result, TemplateResult::Data(json!(1)));
    }
}

#[tokio::test]
async fn printing_neither_corrupts_the_result_nor_grows_without_bound() {
    let sandbox = sandbox().await;
    let request = body(
        "import sys, os\nprint('x' * 100000)\nsys.stderr.write('y')\nos.write(1, b'z')\nreturn {}",
    );
    let output = request.run(&sandbox).await.unwrap();
    assert_eq!(output.result, TemplateResult::Data(json!({})));
    assert_eq!(output.printed, "x".repeat(4096));
}

#[tokio::test]
async fn errors_show_the_templates_own_frames_only() {
    let source = "import helper\n\ndef GenerateConfig(context):\n    return helper.parse(context.env['name'])\n";
    let helper = "import json\ndef parse(text):\n    return json.loads(text)\n";
    let request = Request::template(source)
        .at("t/vm.py")
        .import("helper.py", helper);
    let SandboxError::TemplateRaised(failure) = error(request).await else {
        panic!("expected a raised error");
    };
    assert_eq!(failure.exception, "JSONDecodeError");
    let frames: Vec<_> = failure
        .frames
        .iter()
        .map(|f| {
            (
                f.file.as_str(),
                f.line,
                f.function.as_str(),
                f.source.as_str(),
            )
        })
        .collect();
    assert_eq!(
        frames,
        [
            (
                "t/vm.py",
                4,
                "GenerateConfig",
                "return helper.parse(context.env['name'])"
            ),
            ("helper.py", 3, "parse", "return json.loads(text)"),
        ]
    );
}

#[tokio::test]
async fn a_syntax_error_names_line_and_column() {
    let error = error(Request::template(
        "def GenerateConfig(context):\n    return (1\n",
    ))
    .await;
    let failure = error.failure().unwrap();
    let frame = failure.frames.last().unwrap();
    assert_eq!(
        (failure.exception.as_str(), frame.line, frame.column),
        ("SyntaxError", 2, Some(12))
    );
    assert_eq!(frame.source, "return (1");
}

#[tokio::test]
async fn python_2_idioms_get_a_hint() {
    let cases = [
        ("print 'x'", "print(...)"),
        ("return {}.iteritems()", ".items()"),
        ("return {}.has_key('a')", "key in mapping"),
        ("return __import__('yaml').load('a: 1')", "yaml.safe_load"),
        ("return unicode('a')", "write str"),
        ("return [x for x in xrange(3)]", "write range"),
        ("return isinstance('', basestring)", "write str"),
        ("return 0755", "0o755"),
        ("import urllib2", "Python 3"),
        ("return {}.keys()[0]", "list(...)"),
        ("try: pass\nexcept ValueError, e: pass", "except A as error"),
    ];
    for (code, expected) in cases {
        let error = error(body(code)).await;
        let hint = error.failure().and_then(|failure| failure.hint.clone());
        assert!(
            hint.as_deref().is_some_and(|hint| hint.contains(expected)),
            "{code}: {error}, hint {hint:?}"
        );
    }
}

#[tokio::test]
async fn a_template_without_the_function_says_so() {
    let error = error(Request::template("x = 1")).await;
    assert!(matches!(error, SandboxError::MissingFunction(_)), "{error}");
}

#[tokio::test]
async fn modules_outside_the_set_are_refused_by_name() {
    for module in [
        "ctypes",
        "socket",
        "subprocess",
        "multiprocessing",
        "threading",
        "pip",
        "resource",
        "expandybird_process",
    ] {
        let error = error(body(&format!("import {module}"))).await;
        assert!(
            matches!(
                error,
                SandboxError::ForbiddenImport(_) | SandboxError::TemplateRaised(_)
            ),
            "{module}: {error}"
        );
        assert!(error.to_string().contains(module), "{module}: {error}");
    }
    for name in ["../../etc/passwd", "a..b", "/etc/passwd"] {
        let error = error(body(&format!("__import__({name:?})"))).await;
        assert!(
            matches!(error, SandboxError::TemplateRaised(_)),
            "{name}: {error}"
        );
    }
}

#[tokio::test]
async fn clocks_and_randomness_repeat() {
    let code = "import time, datetime, random, uuid, os, secrets\nreturn [time.time(), str(datetime.datetime.now()), str(datetime.date.today()), random.random(), str(uuid.uuid4()), str(uuid.uuid1()), os.urandom(4).hex(), secrets.token_hex(4), hash('a')]";
    let first = result(body(code)).await.unwrap();
    assert_eq!(first, result(body(code)).await.unwrap());
    assert_eq!(first[0], json!(1_450_000_000.0));
    assert_eq!(first[1], json!("2015-12-13 09:46:40"));
}

/// What no template may do, and a line that tries it with what Python has loaded anyway.
const ATTACKS: [(&str, &str); 20] = [
    ("read a file", "return open('/etc/passwd').read()"),
    (
        "read the environment of init",
        "return open('/proc/1/environ', 'rb').read()",
    ),
    (
        "read its own environment",
        "return open('/proc/self/environ', 'rb').read()",
    ),
    ("list a folder", "import os\nreturn os.listdir('/')"),
    (
        "write a file",
        "open('/tmp/expandybird-escaped', 'w').write('x')",
    ),
    (
        "write into the library",
        "import os\nopen(os.__file__ + 'x', 'w')",
    ),
    (
        "remove a file",
        "import os\nos.unlink('/tmp/expandybird-escaped')",
    ),
    ("fork", "import os\nwhile True: os.fork()"),
    (
        "run a program",
        "import os\nos.execv('/bin/true', ['true'])",
    ),
    (
        "spawn a program",
        "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    ),
    (
        "run a shell",
        "import os\nif os.system('true') != 0: raise PermissionError(1, 'system')",
    ),
    ("kill its parent", "import os\nos.kill(os.getppid(), 9)"),
    (
        "kill itself by signal",
        "import os\nos.kill(os.getpid(), 9)",
    ),
    (
        "open a socket",
        "import sys\nsys.modules['socket'].socket()",
    ),
    (
        "open a UNIX socket",
        "import sys\nsys.modules['socket'].socketpair()",
    ),
    ("make a pipe", "import os\nos.pipe()"),
    ("make a file in memory", "import os\nos.memfd_create('x')"),
    ("change its folder", "import os\nos.chdir('/')"),
    ("change its user", "import os\nos.setuid(1)"),
    (
        "unpickle a program",
        "import pickle\npickle.loads(b\"cos\\nsystem\\n(S'true'\\ntR.\") and open('/etc/passwd')",
    ),
];

#[tokio::test]
async fn no_attack_gets_further_than_an_exception() {
    for (what, code) in ATTACKS {
        let error = error(body(code)).await;
        assert!(
            matches!(error, SandboxError::Forbidden(_)),
            "{what}: {error:?}"
        );
    }
    assert!(!std::path::Path::new("/tmp/expandybird-escaped").exists());
}

#[tokio::test]
async fn code_written_in_c_cannot_be_loaded() {
    let code = "import importlib\nimportlib.import_module('ctypes').CDLL(None).getpid()";
    let error = error(body(code)).await;
    assert!(error.failure().is_some(), "{error:?}");
}

#[tokio::test]
async fn threads_cannot_be_started() {
    let code = "import importlib\nt = importlib.import_module('threading').Thread(target=print)\nt.start()";
    let error = error(body(code)).await;
    assert!(
        error.to_string().contains("can't start new thread"),
        "{error:?}"
    );
}

#[tokio::test]
async fn only_the_sessions_stream_is_open() {
    let code = "import os\ndef is_open(n):\n    try: os.fstat(n)\n    except OSError: return False\n    return True\nreturn [n for n in range(1000) if is_open(n)]";
    let open = result(body(code)).await.unwrap();
    assert_eq!(open.as_array().map(Vec::len), Some(4), "{open}");
}

#[tokio::test]
async fn nothing_of_one_session_is_seen_by_the_next() {
    let leave = "import os, sys, json, builtins\nos.environ['LEFT'] = '1'\nsys.modules['left'] = json\nbuiltins.left = json.left = 1\nreturn {}";
    let look = "import os, sys, json, builtins\nreturn [dict(os.environ), 'left' in sys.modules, hasattr(builtins, 'left'), hasattr(json, 'left')]";
    let sandbox = sandbox().await;
    body(leave).run(&sandbox).await.unwrap();
    let seen = body(look).run(&sandbox).await.unwrap();
    assert_eq!(
        seen.result,
        TemplateResult::Data(json!([{"TZ": "UTC0"}, false, false, false]))
    );
}

#[tokio::test]
async fn an_endless_loop_ends_at_the_deadline_and_the_next_request_is_served() {
    let sandbox = sandbox().await;
    for code in [
        "while True: pass",
        "import re\nre.match('(a+)+$', 'a' * 64 + 'b')",
        "import time\ntime.sleep(1000)",
    ] {
        let error = body(code).deadline_ms(300).run(&sandbox).await.unwrap_err();
        assert!(matches!(error, SandboxError::Timeout), "{code}: {error:?}");
        body("return {}").run(&sandbox).await.unwrap();
    }
    support::no_session_is_left(&sandbox).await;
}

#[tokio::test]
async fn processor_time_is_limited_by_the_kernel() {
    let error = error(body("while True: pass").cpu_seconds(1)).await;
    assert!(matches!(error, SandboxError::Timeout), "{error:?}");
}

#[tokio::test]
async fn a_dropped_session_leaves_no_process() {
    let sandbox = sandbox().await;
    let request = body("while True: pass");
    let mut session = request.open(&sandbox).await.unwrap();
    let waiting = tokio::time::timeout(
        std::time::Duration::from_millis(50),
        session.call(request.call()),
    );
    assert!(waiting.await.is_err());
    drop(session);
    support::no_session_is_left(&sandbox).await;
}

#[tokio::test]
async fn a_call_abandoned_half_way_ends_the_session() {
    let sandbox = sandbox().await;
    let request = body("while True: pass");
    let mut session = request.open(&sandbox).await.unwrap();
    let _ = tokio::time::timeout(
        std::time::Duration::from_millis(50),
        session.call(request.call()),
    )
    .await;
    let error = session.call(request.call()).await.unwrap_err();
    assert!(matches!(error, SandboxError::SessionOver), "{error:?}");
}

#[tokio::test]
async fn a_memory_bomb_ends_in_its_own_error() {
    let sandbox = sandbox().await;
    let bombs = [
        "return 'x' * 10**12",
        "a = []\nwhile True: a.append('x' * 100000)",
        "global a\na = []\nwhile True: a.append([0] * 1000)",
        "def f(n): return {'a': f(n - 1), 'b': f(n - 1)} if n else [0] * 100000\nreturn f(20)",
        "import yaml\nlines = ['a0: &a0 [1, 1]'] + [f'a{i}: &a{i} [*a{i-1}, *a{i-1}]' for i in range(1, 60)]\nreturn str(yaml.safe_load('\\n'.join(lines)))",
    ];
    for code in bombs {
        let error = body(code).run(&sandbox).await.unwrap_err();
        assert!(
            matches!(error, SandboxError::MemoryExceeded { .. }),
            "{code}: {error:?}"
        );
        body("return {}").run(&sandbox).await.unwrap();
    }
}

#[tokio::test]
async fn huge_output_is_refused_before_it_leaves_the_process() {
    for code in [
        "return 'x' * (64 << 20)",
        "return {'a': ['x' * 1000] * 100000}",
        "a = [0] * 1000\nfor _ in range(6): a = [a] * 1000\nreturn a",
    ] {
        let error = error(body(code)).await;
        assert!(
            matches!(error, SandboxError::OutputTooLarge { .. }),
            "{code}: {error:?}"
        );
    }
}

#[tokio::test]
async fn deep_recursion_is_an_exception() {
    let error = error(body("def f(): return f()\nf()")).await;
    let failure = error.failure().unwrap();
    assert_eq!(failure.exception, "RecursionError");
    assert!(failure.frames.len() <= 20);
}

#[tokio::test]
async fn leaving_the_process_is_an_error_not_an_empty_result() {
    let left = error(body("import os\nos._exit(0)")).await;
    assert!(
        matches!(
            left,
            SandboxError::WorkerDied {
                exit: Exit::Code(0)
            }
        ),
        "{left:?}"
    );
    let exited = error(body("import sys\nsys.exit(0)")).await;
    assert!(
        matches!(exited, SandboxError::TemplateRaised(_)),
        "{exited:?}"
    );
}

#[tokio::test]
async fn forged_frames_are_errors_of_their_own_session() {
    let sandbox = sandbox().await;
    for bytes in [
        "b'\\xff\\xff\\xff\\xff'",
        "b'\\x02\\0\\0\\0{}'",
        "b'\\x04\\0\\0\\0nope'",
    ] {
        let code = format!(
            "import os\nfor n in range(3, 32):\n    try: os.write(n, {bytes})\n    except OSError: pass\nreturn {{}}"
        );
        let error = body(&code).run(&sandbox).await.unwrap_err();
        assert!(
            matches!(error, SandboxError::Protocol(_)),
            "{bytes}: {error:?}"
        );
        body("return {}").run(&sandbox).await.unwrap();
    }
}

#[tokio::test]
async fn a_failed_call_leaves_the_session_usable() {
    let sandbox = sandbox().await;
    let request = body("return 1 / context.properties").properties(json!(0));
    let mut session = request.open(&sandbox).await.unwrap();
    let error = session.call(request.call()).await.unwrap_err();
    assert!(
        matches!(error, SandboxError::TemplateRaised(_)),
        "{error:?}"
    );
    let again = request.properties(json!(2));
    let output = session.call(again.call()).await.unwrap();
    assert_eq!(output.result, TemplateResult::Data(json!(0.5)));
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
async fn a_zygote_that_died_is_replaced_unnoticed() {
    let sandbox = sandbox().await;
    let zygote = result_of(&sandbox, "import os\nreturn os.getppid()").await;
    let id = i32::try_from(zygote.as_i64().unwrap()).unwrap();
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(id),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    // Until then the process that was forked ahead may still serve.
    support::process_is_gone(id).await;
    let next = result_of(&sandbox, "import os\nreturn os.getppid()").await;
    assert_ne!(next, zygote);
}

#[tokio::test]
async fn the_zygote_and_its_children_end_with_the_sandbox() {
    let sandbox = sandbox().await;
    let ids = result_of(&sandbox, "import os\nreturn [os.getppid()]").await;
    let request = body("import os\nreturn os.getpid()");
    let mut session = request.open(&sandbox).await.unwrap();
    let TemplateResult::Data(child) = session.call(request.call()).await.unwrap().result else {
        panic!("expected a number");
    };
    drop((session, sandbox));
    for id in [&ids[0], &child] {
        support::process_is_gone(i32::try_from(id.as_i64().unwrap()).unwrap()).await;
    }
}

#[tokio::test]
async fn a_childs_process_ends_when_the_zygote_is_killed() {
    let sandbox = sandbox().await;
    let request = body("import os\nreturn [os.getpid(), os.getppid()]");
    let mut session = request.open(&sandbox).await.unwrap();
    let TemplateResult::Data(ids) = session.call(request.call()).await.unwrap().result else {
        panic!("expected two numbers");
    };
    let [child, zygote] = [0, 1].map(|n| i32::try_from(ids[n].as_i64().unwrap()).unwrap());
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(zygote),
        nix::sys::signal::Signal::SIGKILL,
    )
    .unwrap();
    support::process_is_gone(child).await;
    let error = session.call(request.call()).await.unwrap_err();
    assert!(matches!(error, SandboxError::ZygoteLost), "{error:?}");
}

#[tokio::test]
async fn the_packages_are_taken_from_the_given_folder() {
    let folder = tempfile::tempdir().unwrap();
    let error = support::start_with_packages(folder.path())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("pip install --target"),
        "{error}"
    );
    for package in ["yaml", "six", "jinja2"] {
        std::fs::write(folder.path().join(format!("{package}.py")), "here = 'yes'").unwrap();
    }
    let sandbox = support::start_with_packages(folder.path()).await.unwrap();
    assert_eq!(
        result_of(&sandbox, "import yaml\nreturn yaml.here").await,
        json!("yes")
    );
}

async fn result_of(sandbox: &expandybird::sandbox::Sandbox, code: &str) -> Value {
    match body(code).run(sandbox).await.unwrap().result {
        TemplateResult::Data(value) => value,
        TemplateResult::Text(text) => Value::String(text),
    }
}

#[tokio::test]
async fn sessions_over_the_bound_wait_for_their_turn() {
    let sandbox = support::sandbox_of(1).await;
    let request = body("return {}");
    let first = request.open(&sandbox).await.unwrap();
    let refused = body("return {}")
        .deadline_ms(50)
        .open(&sandbox)
        .await
        .unwrap_err();
    assert!(
        matches!(refused, SandboxError::Busy { sessions: 1 }),
        "{refused:?}"
    );
    drop(first);
    request.open(&sandbox).await.unwrap();
}

#[tokio::test]
async fn health_says_what_the_kernel_enforces() {
    let health = sandbox().await.health().await.unwrap();
    assert!(health.python_version.starts_with("3."), "{health:?}");
    assert_eq!(health.lockdown.missing(), Vec::<&str>::new());
}

#[tokio::test]
async fn a_worker_that_is_not_there_is_named() {
    let error = support::start_with("/nowhere/expandybird-worker")
        .await
        .unwrap_err();
    assert!(
        matches!(&error, SandboxError::NotAvailable { reason } if reason.contains("/nowhere/expandybird-worker")),
        "{error}"
    );
}
