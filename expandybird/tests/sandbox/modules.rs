//! What templates may import: their helpers, and a set of Python's own modules.

use expandybird::sandbox::{SandboxError, TemplateResult};
use serde_json::{Value, json};

use crate::support::{self, Request, sandbox};
use crate::{body, error, result, result_of};

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
async fn a_byte_order_mark_and_lines_that_end_as_on_windows_are_read() {
    let source = "\u{feff}import helper\r\ndef GenerateConfig(context):\r\n    return helper.V\r\n";
    let helper = "\u{feff}V = '''a\r\nb'''\r\n";
    let request = Request::template(source).import("helper.py", helper);
    assert_eq!(result(request).await.unwrap(), json!("a\nb"));
    let wrong = "\u{feff}def GenerateConfig(context):\r\n    return nope\r\n";
    let failure = error(Request::template(wrong)).await;
    let frame = failure.failure().unwrap().frames.last().unwrap();
    assert_eq!((frame.line, frame.source.as_str()), (2, "return nope"));
}

#[tokio::test]
async fn the_list_of_modules_in_the_documentation_is_the_set() {
    let documentation = include_str!("../../COMPATIBILITY.md");
    let lines = documentation
        .lines()
        .filter_map(|line| line.strip_prefix("> "));
    let listed: Vec<&str> = lines
        .flat_map(str::split_whitespace)
        .map(|module| module.trim_matches('`'))
        .collect();
    let code = "import sys\nlibrary = sys.modules['expandybird_library']\nreturn sorted(library.RESERVED | library.YIELDING)";
    assert_eq!(result(body(code)).await.unwrap(), json!(listed));
}

#[tokio::test]
async fn modules_that_joined_the_set_later_work() {
    let code = "
import bz2, contextvars, email.message, getopt, io, lzma, optparse, platform, plistlib, queue, tarfile, tomllib, zipfile
import xml.etree.ElementTree as tree
message = email.message.EmailMessage()
message['To'] = 'a@b.c'
waiting = queue.Queue()
waiting.put(1)
return [
    tree.fromstring('<a b=\"c\"/>').get('b'), tomllib.loads('a = 1'), message.as_string(), waiting.get(),
    platform.system(), bz2.decompress(bz2.compress(b'x')).decode(), lzma.decompress(lzma.compress(b'y')).decode(),
    contextvars.ContextVar('v', default=1).get(), plistlib.loads(plistlib.dumps({'a': 1})),
]";
    let expected = json!(["c", {"a": 1}, "To: a@b.c\n\n", 1, "Linux", "x", "y", 1, {"a": 1}]);
    assert_eq!(result(body(code)).await.unwrap(), expected);
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
            matches!(error, SandboxError::Import(_)),
            "{module}: {error}"
        );
        assert!(error.to_string().contains(module), "{module}: {error}");
    }
}

#[tokio::test]
async fn a_name_is_no_path_to_a_module() {
    let names = [
        "'../../etc/passwd'",
        "'/etc/passwd'",
        "'a..b'",
        "'..\\\\..\\\\etc\\\\passwd'",
        "'os\\0.py'",
        "'x' * 100000",
    ];
    for name in names {
        let error = error(body(&format!("__import__({name})"))).await;
        assert!(matches!(error, SandboxError::Import(_)), "{name}: {error}");
    }
    let error = error(body(
        "import importlib\nimportlib.import_module('/etc/passwd')",
    ))
    .await;
    assert!(matches!(error, SandboxError::Import(_)), "{error}");
}

#[tokio::test]
async fn code_written_in_c_cannot_be_loaded() {
    let code = "import importlib\nimportlib.import_module('ctypes').CDLL(None).getpid()";
    let error = error(body(code)).await;
    assert!(matches!(error, SandboxError::Import(_)), "{error:?}");
    let loaded = result(body("import sys\nreturn '_ctypes' in sys.modules")).await;
    assert_eq!(loaded.unwrap(), json!(false));
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
