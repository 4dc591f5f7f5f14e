//! What no template may do, and how each attempt ends: in its own error, and with the next request
//! served as if nothing had happened.

use common::api::error::ErrorCode;
use expandybird::sandbox::{Exit, Sandbox, SandboxError, TemplateResult};
use serde_json::json;

use crate::support::{self, Request, sandbox};
use crate::{body, error, result};

/// How the attempt ended; the sandbox is as good as new after it.
async fn attempt(sandbox: &Sandbox, what: &str, request: Request) -> SandboxError {
    let ended = request.run(sandbox).await;
    let next = body("return context.env['name']").run(sandbox).await;
    assert_eq!(
        next.expect("the next request is served").result,
        TemplateResult::Text("vm".to_owned()),
        "{what}"
    );
    match ended {
        Ok(output) => panic!("{what}: it got away with {output:?}"),
        Err(error) => error,
    }
}

/// Lines that try it with what Python has loaded anyway.
const FORBIDDEN: [(&str, &str); 30] = [
    ("read a file", "return open('/etc/passwd').read()"),
    (
        "read the environment of init",
        "return open('/proc/1/environ', 'rb').read()",
    ),
    (
        "read its own environment",
        "return open('/proc/self/environ', 'rb').read()",
    ),
    (
        "read the server's memory",
        "import os\nopen('/proc/%d/mem' % os.getppid(), 'rb')",
    ),
    (
        "read past the library by its parent folder",
        "import os\nreturn open(os.path.dirname(os.__file__) + '/..' * 20 + '/etc/passwd').read()",
    ),
    ("list a folder", "import os\nreturn os.listdir('/')"),
    (
        "write a file",
        "open('/tmp/expandybird-escaped', 'w').write('x')",
    ),
    (
        "make a temporary file",
        "import importlib\nimportlib.import_module('_io').open('/tmp/expandybird-escaped', 'x')",
    ),
    (
        "write into the library",
        "import os\nopen(os.__file__ + 'x', 'w')",
    ),
    (
        "remove a file",
        "import os\nos.unlink('/tmp/expandybird-escaped')",
    ),
    (
        "link to a file",
        "import os\nos.symlink('/etc/passwd', '/tmp/expandybird-escaped')",
    ),
    ("fork", "import os\nos.fork()"),
    ("fork until it bursts", "import os\nwhile True: os.fork()"),
    (
        "run a program",
        "import os\nos.execv('/bin/true', ['true'])",
    ),
    (
        "spawn a program",
        "import os\nos.posix_spawn('/bin/true', ['true'], {})",
    ),
    ("run a shell", "import os\nreturn os.system('true')"),
    (
        "run a shell by its other name",
        "import sys\nreturn sys.modules['posix'].system('true')",
    ),
    (
        "unpickle a shell",
        "import pickle\nreturn pickle.loads(b\"cos\\nsystem\\n(S'true'\\ntR.\")",
    ),
    (
        "pickle its own way out",
        "import os, pickle\nclass A:\n    def __reduce__(self): return (os.system, ('true',))\nreturn pickle.loads(pickle.dumps(A()))",
    ),
    (
        "load YAML that runs a shell",
        "import yaml\nreturn yaml.unsafe_load('!!python/object/apply:os.system [\"true\"]')",
    ),
    ("kill its parent", "import os\nos.kill(os.getppid(), 9)"),
    ("kill everybody", "import os\nos.kill(-1, 9)"),
    (
        "kill itself by signal",
        "import os\nos.kill(os.getpid(), 9)",
    ),
    (
        "outlive its processor time",
        "import importlib\nsignal = importlib.import_module('_signal')\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)",
    ),
    (
        "hold back the end of its processor time",
        "import importlib\nsignal = importlib.import_module('_signal')\nsignal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGXCPU})",
    ),
    (
        "open a socket",
        "import sys\nsys.modules['socket'].socket()",
    ),
    (
        "open a UNIX socket",
        "import sys\nsys.modules['socket'].socketpair()",
    ),
    ("make a file in memory", "import os\nos.memfd_create('x')"),
    ("change its folder", "import os\nos.chdir('/')"),
    ("change its user", "import os\nos.setuid(1)"),
];

#[tokio::test]
async fn no_attack_gets_further_than_an_exception() {
    let sandbox = sandbox().await;
    for (what, code) in FORBIDDEN {
        let error = attempt(&sandbox, what, body(code)).await;
        assert!(
            matches!(error, SandboxError::Forbidden(_)),
            "{what}: {error:?}"
        );
        assert_eq!(error.code(), ErrorCode::TemplateForbidden, "{what}");
    }
    assert!(!std::path::Path::new("/tmp/expandybird-escaped").exists());
}

#[tokio::test]
async fn a_system_call_of_no_use_to_anybody_ends_the_process() {
    let sandbox = sandbox().await;
    for code in ["import os\nos.sync()", "import os\nos.nice(1)"] {
        let error = attempt(&sandbox, code, body(code)).await;
        assert!(
            matches!(
                error,
                SandboxError::ForbiddenSyscall | SandboxError::Forbidden(_)
            ),
            "{code}: {error:?}"
        );
        assert_eq!(error.code(), ErrorCode::TemplateForbidden, "{code}");
    }
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
    let code = "import os\ndef is_open(n):\n    try: os.get_inheritable(n)\n    except OSError: return False\n    return True\nreturn [n for n in range(1000) if is_open(n)]";
    let open = result(body(code)).await.unwrap();
    assert_eq!(open.as_array().map(Vec::len), Some(4), "{open}");
}

#[tokio::test]
async fn what_never_ends_is_ended_at_the_deadline() {
    let sandbox = sandbox().await;
    for code in [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import os\nwhile True:\n    try: os.fork()\n    except BaseException: pass",
        "import re\nre.match('(a+)+$', 'a' * 64 + 'b')",
        "import time\ntime.sleep(1000)",
        "import functools, itertools\nreturn functools.reduce(lambda a, b: b, itertools.count())",
        "return 9 ** 9 ** 9",
        "class A:\n    def __del__(self):\n        while True: pass\nA()\nreturn {}",
    ] {
        let error = attempt(&sandbox, code, body(code).deadline_ms(300)).await;
        assert!(matches!(error, SandboxError::Timeout), "{code}: {error:?}");
    }
    support::no_session_is_left(&sandbox).await;
}

#[tokio::test]
async fn processor_time_is_limited_by_the_kernel_whatever_is_caught() {
    let sandbox = sandbox().await;
    for code in [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ] {
        let error = attempt(&sandbox, code, body(code).cpu_seconds(1)).await;
        assert!(matches!(error, SandboxError::Timeout), "{code}: {error:?}");
        assert_eq!(error.code(), ErrorCode::TemplateTimeout);
    }
}

/// Aliases of aliases: 60 levels of two, around a long text that fills memory soon.
const LAUGHS: &str = "import yaml\nlines = ['a0: &a0 [' + 'x' * 1000 + ']'] + [f'a{i}: &a{i} [*a{i-1}, *a{i-1}]' for i in range(1, 60)]\nlaughs = yaml.safe_load('\\n'.join(lines))\n";

#[tokio::test]
async fn a_memory_bomb_ends_in_its_own_error() {
    let sandbox = sandbox().await;
    let laughs = format!("{LAUGHS}return str(laughs)");
    let dumped = format!("{LAUGHS}import json\nreturn json.dumps(laughs)");
    let bombs = [
        "return 'x' * 10**12",
        "return 'x' * 2**30",
        "print('x' * 2**30)",
        "a = []\nwhile True: a.append('x' * 100000)",
        "global a\na = []\nwhile True: a.append([0] * 1000)",
        "def f(n): return {'a': f(n - 1), 'b': f(n - 1)} if n else [0] * 100000\nreturn f(20)",
        &laughs,
        &dumped,
    ];
    for code in bombs {
        // What is left of it beside the interpreter fills sooner.
        let error = attempt(&sandbox, code, body(code).memory_mib(128)).await;
        assert!(
            matches!(error, SandboxError::MemoryExceeded { .. }),
            "{code}: {error:?}"
        );
        assert_eq!(error.code(), ErrorCode::TemplateMemory);
    }
}

/// What is left at the end differs from one limit to the next. The report of the end needs none of it.
#[tokio::test]
async fn a_template_that_uses_all_its_memory_is_reported_whatever_is_left() {
    let sandbox = sandbox().await;
    let code = "global a\na = []\nwhile True: a.append([0] * 1000)";
    for mebibytes in 120..140 {
        let error = attempt(&sandbox, code, body(code).memory_mib(mebibytes)).await;
        assert!(
            matches!(error, SandboxError::MemoryExceeded { .. }),
            "{mebibytes} MiB: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_result_of_little_text_and_much_else_is_refused_too() {
    let sandbox = sandbox().await;
    for code in [
        // Each list and each map takes memory of its own.
        "a = [1]\nfor _ in range(26): a = [a, a]\nreturn {'outputs': [{'name': 'o', 'value': a}]}",
        "a = {'a': 1}\nfor _ in range(26): a = {'a': a, 'b': a}\nreturn a",
        // More values than a frame may hold.
        "return [1] * 2_000_000",
    ] {
        let request = body(code).memory_mib(128).output_mib(16);
        let error = attempt(&sandbox, code, request).await;
        assert!(
            matches!(error, SandboxError::OutputTooLarge { .. }),
            "{code}: {error:?}"
        );
    }
}

/// The worker needs memory for the result too, and the template may hold it.
#[tokio::test]
async fn a_result_that_no_memory_is_left_for_is_told() {
    let sandbox = sandbox().await;
    let code = "global held\nheld = []\ntry:\n    while True: held.append('x' * 100000 + str(len(held)))\n\
                except MemoryError: del held[-20:]\nreturn ['x' * 1000] * 55_000";
    let request = body(code).memory_mib(128).output_mib(64);
    let error = attempt(&sandbox, code, request).await;
    assert!(
        matches!(error, SandboxError::MemoryExceeded { .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn huge_output_is_refused_before_it_leaves_the_process() {
    let sandbox = sandbox().await;
    let laughs = format!("{LAUGHS}return laughs");
    for code in [
        "return 'x' * (64 << 20)",
        "return {'a': ['x' * 1000] * 100000}",
        "return ['x' * 2**20] * 1024",
        "a = [0] * 1000\nfor _ in range(6): a = [a] * 1000\nreturn a",
        &laughs,
        "for _ in range(1024): print('x' * 2**20)",
        "import sys\nfor _ in range(1024):\n    try: sys.stderr.write('x' * 2**20)\n    except BaseException: pass\nreturn {}",
    ] {
        let error = attempt(&sandbox, code, body(code)).await;
        assert!(
            matches!(error, SandboxError::OutputTooLarge { .. }),
            "{code}: {error:?}"
        );
        assert_eq!(error.code(), ErrorCode::TemplateOutput);
    }
}

#[tokio::test]
async fn a_process_that_a_template_brings_down_is_told() {
    let sandbox = sandbox().await;
    for code in [
        "import os\nos._exit(0)",
        "import os\nos.abort()",
        "import os\nfor n in range(32):\n    try: os.close(n)\n    except OSError: pass\nreturn {}",
    ] {
        let error = attempt(&sandbox, code, body(code)).await;
        assert_eq!(
            error.code(),
            ErrorCode::TemplateCrashed,
            "{code}: {error:?}"
        );
    }
    let left = error(body("import os\nos._exit(0)")).await;
    let exit = Exit::Code(0);
    assert!(matches!(left, SandboxError::WorkerDied { exit: reported } if reported == exit));
    // Not a way out of the process.
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
        let error = attempt(&sandbox, bytes, body(&code)).await;
        assert!(
            matches!(error, SandboxError::Protocol(_)),
            "{bytes}: {error:?}"
        );
    }
}

#[tokio::test]
async fn answers_are_data_whatever_their_classes_do() {
    let cases = [
        (
            "class D(dict):\n    def items(self): return iter(lambda: ('k', 1), None)\nreturn D(a=1)",
            ErrorCode::TemplateOutput,
        ),
        (
            "class L(list):\n    def __iter__(self): raise SystemExit\nreturn L([1])",
            ErrorCode::TemplateFailed,
        ),
        (
            "class D(dict):\n    def items(self): return [1]\nreturn D(a=1)",
            ErrorCode::TemplateFailed,
        ),
    ];
    let sandbox = sandbox().await;
    for (code, expected) in cases {
        let error = attempt(&sandbox, code, body(code)).await;
        assert_eq!(error.code(), expected, "{code}: {error:?}");
    }
    let honest = body("class S(str):\n    def __str__(self): return 'x'\nreturn {S('a'): S('b')}");
    assert_eq!(result(honest).await.unwrap(), json!({"a": "b"}));
}
