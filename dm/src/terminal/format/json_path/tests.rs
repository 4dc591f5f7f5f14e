use serde_json::{Value, json};

use super::*;

fn render(expression: &str, document: &Value) -> Result<String, JsonPathError> {
    JsonPath::parse(expression)?.render(document)
}

fn list() -> Value {
    let object = |kind: &str, name: &str, port: u16| {
        json!({"kind": kind, "metadata": {"name": name, "labels": {"a.b/c": "x"}},
            "spec": {"ports": [{"name": "http", "port": port}, {"name": "db", "port": 5432}]}})
    };
    json!({"kind": "List", "items": [object("Service", "web", 80), object("Route", "api", 8080)]})
}

#[test]
fn an_expression_is_text_with_the_values_at_paths() {
    for (expression, expected) in [
        ("", ""),
        (".kind", ".kind"),
        ("kind: {.kind}!", "kind: List!"),
        ("{.items[*].metadata.name}", "web api"),
        (
            "{.items[*]['kind','metadata.name']}",
            "Service Route web api",
        ),
        ("{.items[0].metadata.labels}", r#"{"a.b/c":"x"}"#),
        (r"{.items[0].metadata.labels.a\.b/c}", "x"),
        (r"{.items[1].metadata.labels['a\.b/c']}", "x"),
        ("{.items[-1:].metadata.name}", "api"),
        ("{.items[0:1].kind} {.items[::2].kind}", "Service Service"),
        ("{.items[0].spec.ports[?(@.name==\"db\")].port}", "5432"),
        ("{.items[*].spec.ports[?(@.port>=8080)].port}", "8080"),
        ("{.items[?(@.kind!='Route')].metadata.name}", "web"),
        ("{.items[?(@.nothing)].kind}{.nothing.at.all}", ""),
        ("{..port}", "80 5432 8080 5432"),
        ("{.items[0].spec.ports[0].*}", "http 80"),
        ("{$.kind}{@.kind}", "ListList"),
        ("{'a}b'}{\"\\t\"}", "a}b\t"),
        (
            "{range .items[*]}{.metadata.name}:{range .spec.ports[*]} {.name}={.port}{end}{\"\\n\"}{end}",
            "web: http=80 db=5432\napi: http=8080 db=5432\n",
        ),
        ("{range .items[*]}{$.kind} {end}", "List List "),
        ("{range .items[*]}{.nothing}{end}{range .none[*]}x{end}", ""),
        (
            "{ .kind } {['kind']} {.items[0,1].kind}",
            "List List Service Route",
        ),
        (
            "{.items[-2:-1].kind} {.items[1:].kind} {.items[:1].kind}",
            "Service Route Service",
        ),
        ("{.items[0].spec.ports[?(5432==@.port)].name}", "db"),
    ] {
        assert_eq!(
            render(expression, &list()).as_deref(),
            Ok(expected),
            "{expression}"
        );
    }
}

#[test]
fn values_are_printed_as_kubectl_does() {
    let document =
        json!({"a": null, "b": true, "c": 1.5, "d": ["x", 1], "e": 9_007_199_254_740_993_i64});
    let text = render("{.a} {.b} {.c} {.d} {.e}", &document);
    assert_eq!(text.unwrap(), r#"null true 1.5 ["x",1] 9007199254740993"#);
}

#[test]
fn what_is_no_expression_is_refused_with_the_part_that_is_wrong() {
    for (expression, message) in [
        ("{.a", "the JSONPath has a brace that is not closed: \".a\""),
        ("{.items[x]}", "\"[x]\" is not a part of a JSONPath"),
        ("{.items[0:1:0]}", "\"[0:1:0]\" is not a part of a JSONPath"),
        ("{items}", "\"items\" is not a part of a JSONPath"),
        ("{.items[?(@.a=1)]}", "\"=1\" is not a part of a JSONPath"),
        (
            "{range .items[*]}",
            "a {range} of the JSONPath has no {end}",
        ),
        ("a{end}", "a JSONPath has {end} without {range}"),
        (
            "{.items[5]}",
            "array index out of bounds: index 5, length 2",
        ),
        (
            "{.items[?(@.kind==1)]}",
            "a condition of the JSONPath compares \"Service\" with 1: they have different types",
        ),
    ] {
        let error = render(expression, &list()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{expression}: {error}");
    }
    let deep = format!("{}x{}", "{range .a}".repeat(100), "{end}".repeat(100));
    assert_eq!(render(&deep, &list()), Err(ParseError::Depth.into()));
}

proptest::proptest! {
    #[test]
    fn no_expression_makes_it_panic(expression in "[{}.\\[\\]a*?@$()'\"=<:,0-9\\\\ -]{0,40}") {
        let _ = render(&expression, &list());
    }
}
