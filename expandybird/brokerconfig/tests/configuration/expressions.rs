//! Dynamic attributes: what each evaluates to, or why it does not.

use std::collections::BTreeMap;

use crate::support::{config, evaluated, inputs, small};
use expandybird_brokerconfig::process;
use serde_json::{Value, json};

fn parameters() -> Value {
    json!({
        "size": 4, "zero": 0, "name": "bob", "none": null, "list": ["a", "b"], "pi": 3.5, "a/b": {"~c": 1},
        "num": 3, "t": true, "empty": "", "big": 12_345_678, "obj": {"b": 1, "a": "<x>"},
    })
}

/// The registry that the expressions read.
fn registry() -> Value {
    let keys = ["num", "t", "empty", "big", "obj"];
    let entry =
        |key: &str| json!({"name": key, "value": format!("{{{{ parameter \"/{key}\" }}}}")});
    keys.map(entry).to_vec().into()
}

#[test]
fn an_expression_has_the_value_that_gos_templates_give_it() {
    for (expression, expected) in [
        (r#"{{ registry "missing" }}"#, json!(null)),
        (r#"{{ registry "missing" | default 3 }}"#, json!(3)),
        (r#"{{ registry "empty" | default "d" }}"#, json!("")),
        (r#"{{ parameter "/zero" | default 7 }}"#, json!(0)),
        (r#"{{ parameter "/list" }}"#, json!(["a", "b"])),
        (r#"{{ parameter "/list/1" }}"#, json!("b")),
        (r#"{{ parameter "/a~1b/~0c" }}"#, json!(1)),
        (r#"{{ parameter "name" }}"#, json!("bob")),
        (r#"{{ (parameter "").name }}"#, json!("bob")),
        (
            r#"{{ printf "%s-%s" (registry "instance-id") (parameter "/name") }}"#,
            json!("camelot-bob"),
        ),
        (r#"{{ printf "%v" (registry "missing") }}"#, json!("<nil>")),
        (
            r#"{{ printf "%s" (registry "missing") }}"#,
            json!("%!s(<nil>)"),
        ),
        (
            r#"{{ printf "%d" (parameter "/size") }}"#,
            json!("%!d(float64=4)"),
        ),
        (r#"{{ printf "%v" (parameter "/size") }}"#, json!("4")),
        (
            r#"{{ printf "%v" (registry "big") }}"#,
            json!("1.2345678e+07"),
        ),
        ("{{ true }}", json!(true)),
        ("{{ 0 }}", json!(0)),
        ("{{ 1.5 }}", json!(1.5)),
        (r#"{{ "s" }}"#, json!("s")),
        (r#"{{ list "a" 1 true nil }}"#, json!(["a", 1, true, null])),
        ("{{ list }}", json!([])),
        (
            r#"{{ if registry "missing" }}{{ "a" }}{{ else }}{{ "b" }}{{ end }}"#,
            json!("b"),
        ),
        (
            r#"{{ if registry "missing" }}{{ "a" }}{{ end }}"#,
            json!(null),
        ),
        (r#"{{ if registry "t" }}"lit"{{ end }}"#, json!("lit")),
        (
            r#"{{ with registry "instance-id" }}{{ . }}{{ end }}"#,
            json!("camelot"),
        ),
        (
            r#"{{ $x := registry "instance-id" }}{{ printf "%s!" $x }}"#,
            json!("camelot!"),
        ),
        (
            r#"{{ title "foo bar-baz_qux 9a" }}"#,
            json!("Foo Bar-Baz_qux 9a"),
        ),
        (r#"{{ upper "aß" }}{{/* c */}}"#, json!("ASS")),
        (
            r#"{{ json (registry "obj") }}"#,
            json!(r#"{"a":"\u003cx\u003e","b":1}"#),
        ),
        (r#"{{ (registry "obj").a }}"#, json!("<x>")),
        (r#"{{ index (registry "obj") "b" }}"#, json!(1)),
        (r#"{{ len (parameter "/list") }}"#, json!(2)),
        (r#"{{ eq (parameter "/size") 4.0 }}"#, json!(true)),
        (
            r#"{{ and (registry "t") (registry "instance-id") }}"#,
            json!("camelot"),
        ),
        (r#"{{ or (registry "missing") "fb" }}"#, json!("fb")),
        (r#"{{ not (registry "missing") }}"#, json!(true)),
        (r#"{{- registry "instance-id" -}}"#, json!("camelot")),
        (r#"{{/* c */}}{{ registry "num" }}"#, json!(3)),
        (
            r#"x-{{ registry "num" }}"#,
            json!(r#"x-{{ registry "num" }}"#),
        ),
        (
            r#" {{ registry "num" }}"#,
            json!(r#" {{ registry "num" }}"#),
        ),
        ("{{ generatePassword 0 nil }}", json!("")),
        (r#"{{ generatePassword 3 "a" }}"#, json!("aaa")),
        (r#"{{ registry "plan-id" }}"#, json!("p")),
    ] {
        let found = evaluated(expression, parameters(), &registry());
        assert_eq!(found, Ok(expected), "{expression}");
    }
}

#[test]
fn an_expression_fails_with_gos_words() {
    for (expression, expected) in [
        (
            r#"{{ parameter "/none" | required }}"#,
            "error calling required: required value is nil",
        ),
        ("{{ nil }}", "nil is not a command"),
        (r#"{{ "a" }}{{ "b" }}"#, "not one JSON value"),
        (
            r#"{{ range list 1 2 }}{{ . }}{{ end }}"#,
            "cannot use range",
        ),
        (r#"{{ template "x" }}"#, "cannot use template"),
        (r#"{{ define "x" }}{{ end }}"#, "cannot define templates"),
        (
            r#"{{ upper (registry "missing") }}"#,
            "invalid value; expected string",
        ),
        (
            r#"{{ eq (parameter "/size") 4 }}"#,
            "incompatible types for comparison",
        ),
        (
            r#"{{ registry "parameters" }}"#,
            "registry read error: registry key parameters cannot be read",
        ),
        ("{{ nosuch 1 }}", "function \"nosuch\" not defined"),
        ("{{ 1", "malformed"),
        (
            r#"{{ snippet "nosuch" }}"#,
            "there is no template \"nosuch\"",
        ),
        (
            r#"{{ snippet (printf "no%s" "such") }}"#,
            "unable to locate template for nosuch",
        ),
        (
            r#"{{ snippet (printf "obj%s" "ect") }}"#,
            "nested more than",
        ),
        (r#"{{ snippetArray "object" 1 }}"#, "circle"),
        (
            "{{ generatePassword 3 1 }}",
            "password dictionary not a string",
        ),
        (
            r#"{{ generatePassword 3 "" }}"#,
            "password dictionary is empty",
        ),
        (
            "{{ generatePetName 0 }}",
            "petNames: minimum numbers of words is 1",
        ),
    ] {
        let error = evaluated(expression, parameters(), &registry()).unwrap_err();
        assert!(error.contains(expected), "{expression}: {error}");
    }
}

#[test]
fn null_removes_an_entry_and_its_siblings_are_still_computed_and_lists_keep_it() {
    let template = json!({
        "a": "{{ registry \"missing\" }}", "b": "{{ 1 }}", "c": null, "d": ["{{ registry \"missing\" }}", null],
        "{{ key }}": "{{ 2 }}", "e": {"f": "{{ registry \"missing\" }}"},
    });
    let config = config(&small(&template, &json!([]), &json!([]))).unwrap();
    let processed = process(&config, inputs(json!({}), BTreeMap::new())).unwrap();
    let expected = json!({"b": 1, "d": [null, null], "{{ key }}": 2, "e": {}});
    assert_eq!(processed.objects[0].value, expected);
}

#[test]
fn snippets_are_rendered_once_for_each_item_and_see_it() {
    let template = json!({
        "ports": "{{ snippetArray \"port\" (parameter \"/ports\") }}",
        "none": "{{ snippetArray \"port\" (parameter \"/missing\") }}",
        "labels": "{{ snippet \"labels\" }}",
    });
    let others = json!([
        {"name": "port", "template": {"name": "{{ .name }}", "containerPort": "{{ .port }}", "x": "{{ .missing }}"}},
        {"name": "labels", "template": {"app": "{{ snippet \"app\" }}"}},
        {"name": "app", "template": {"name": "web"}},
    ]);
    let config = config(&small(&template, &json!([]), &others)).unwrap();
    let parameters =
        json!({"ports": [{"name": "http", "port": 80}, {"name": "admin", "port": 9000}]});
    let processed = process(&config, inputs(parameters, BTreeMap::new())).unwrap();
    let ports =
        json!([{"name": "http", "containerPort": 80}, {"name": "admin", "containerPort": 9000}]);
    let expected = json!({"ports": ports, "none": [], "labels": {"app": {"name": "web"}}});
    assert_eq!(processed.objects[0].value, expected);
}
