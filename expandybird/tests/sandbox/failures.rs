//! The error messages for authors.

use expandybird::sandbox::{SandboxError, TemplateResult};
use serde_json::json;

use crate::support::{Request, sandbox};
use crate::{body, error};

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
        ("raise ValueError, 'x'", "raise Error('…')"),
        ("if 1 <> 2: pass", "write !="),
        ("return `1`", "repr(...)"),
        ("return ur'x'", "no u before"),
        ("return 10L", "no suffix L"),
        ("return iter([]).next()", "next(...)"),
        ("return map(str, [1])[0]", "list(...)"),
        ("return len(filter(None, []))", "list(...)"),
        ("return range(3) + [4]", "list(...)"),
        ("return sorted([1], cmp=None)", "cmp_to_key"),
        ("k = {}.keys()\nk.sort()", "sorted(...)"),
        ("import string\nreturn string.join(['a'], '')", "text.join"),
        ("import string\nreturn string.uppercase", "ascii_uppercase"),
        ("import sys\nreturn sys.maxint", "sys.maxsize"),
        ("import itertools\nreturn itertools.izip", "zip"),
        ("import hashlib\nreturn hashlib.md5('a')", "text.encode()"),
        (
            "import base64\nreturn base64.b64encode('a')",
            "text.encode()",
        ),
        ("from urllib import quote", "urllib.parse"),
        ("from collections import Mapping", "collections.abc"),
        ("import StringIO", "no module of this name"),
        ("return reduce(max, [1])", "functools.reduce"),
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
async fn deep_recursion_is_an_exception() {
    let error = error(body("def f(): return f()\nf()")).await;
    let failure = error.failure().unwrap();
    assert_eq!(failure.exception, "RecursionError");
    assert!(failure.frames.len() <= 20);
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
async fn where_pythons_library_lies_is_not_told() {
    let error = error(body("from json import nope")).await;
    assert_eq!(
        error.to_string(),
        "an import fails: cannot import name 'nope' from 'json'"
    );
}

#[tokio::test]
async fn exceptions_that_templates_make_up_are_shown_in_short_or_named_unshowable() {
    let cases = [
        (
            "raise type('X' * (10 << 20), (Exception,), {})('a')",
            format!("{}…: a", "X".repeat(200)),
        ),
        (
            "class M(type):\n    __name__ = property(lambda self: 1 / 0)\n\
             class E(Exception, metaclass=M): pass\nraise E('a')",
            "E: a".to_owned(),
        ),
        (
            "class P(list): pass\nerror = ImportError('a')\nerror.path = P()\nraise error",
            "Exception: (an exception that cannot be shown)".to_owned(),
        ),
    ];
    for (code, expected) in cases {
        let error = error(body(code)).await;
        assert!(
            matches!(error, SandboxError::TemplateRaised(_)),
            "{code}: {error}"
        );
        assert_eq!(error.to_string(), expected, "{code}");
    }
}
