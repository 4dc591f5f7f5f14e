//! What templates are given, and what becomes of what they return.

use expandybird::sandbox::{SandboxError, TemplateResult};
use serde_json::json;

use crate::support::{Request, sandbox};
use crate::{body, error, result};

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
        ("[float('nan')]", "[0]: NaN is not a JSON number"),
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
async fn clocks_and_randomness_repeat() {
    let code = "import time, datetime, random, uuid, os, secrets\nreturn [time.time(), str(datetime.datetime.now()), str(datetime.date.today()), random.random(), str(uuid.uuid4()), str(uuid.uuid1()), os.urandom(4).hex(), secrets.token_hex(4), hash('a')]";
    let first = result(body(code)).await.unwrap();
    assert_eq!(first, result(body(code)).await.unwrap());
    assert_eq!(first[0], json!(1_450_000_000.0));
    assert_eq!(first[1], json!("2015-12-13 09:46:40"));
}
