//! Requests that mean harm: each ends in its own code, and the next is served as if nothing had happened.

use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::expander::ExpandRequest;
use expandybird::engine::jinja;
use expandybird::service::Expander;

use crate::{expander, request, request_of};

const PATIENCE: Duration = Duration::from_secs(20);

fn patient() -> Expander {
    expander(PATIENCE, jinja::Limits::default())
}

/// Uses each engine, a helper and a schema, so that whatever an attack broke is missed.
fn innocent() -> ExpandRequest {
    request_of(
        "resources: [{name: a, type: t.jinja, properties: {n: 1}}]",
        &[
            (
                "t.jinja",
                "resources: [{name: b, type: t.py, properties: {n: {{ properties.n }}}}]",
            ),
            ("t.jinja.schema", "properties: {n: {type: integer}}"),
            (
                "t.py",
                "import h\ndef GenerateConfig(context):\n    return h.result(context)\n",
            ),
            (
                "h.py",
                "import yaml\ndef result(context):\n    return yaml.dump({'resources': [{'name': 'c', 'type': 'T', 'properties': context.properties}]})\n",
            ),
        ],
    )
}

async fn is_refused(expander: &Expander, what: &str, attack: ExpandRequest, expected: ErrorCode) {
    match expander.expand(attack).await {
        Ok(_) => panic!("{what}: it got away with it"),
        Err(error) => assert_eq!(error.0.code, expected, "{what}: {}", error.0),
    }
    let next = expander
        .expand(innocent())
        .await
        .unwrap_or_else(|error| panic!("after {what}: {}", error.0));
    let shown = serde_json::to_string(&next.config).unwrap();
    assert_eq!(
        shown, r#"{"resources":[{"name":"c","type":"T","properties":{"n":1}}]}"#,
        "after {what}"
    );
}

/// Aliases of aliases, which hold 2^levels values.
fn laughs(levels: usize) -> String {
    let more = (1..levels).map(|n| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1));
    format!("a0: &a0 [lol, lol]\n{}", more.collect::<String>())
}

#[tokio::test(flavor = "multi_thread")]
async fn yaml_that_grows_as_it_is_read_is_refused_wherever_it_stands() {
    let expander = patient();
    let bomb = laughs(40);
    let deep = format!("resources: {}", "[".repeat(100_000));
    let instance = "resources: [{name: a, type: t.jinja}]";
    let attacks = [
        ("a configuration of aliases", request_of(&bomb, &[])),
        ("a configuration that is too deep", request_of(&deep, &[])),
        ("a template's output of aliases", request("t.jinja", &bomb)),
        (
            "a Python template's output of aliases",
            request(
                "t.py",
                &format!("def GenerateConfig(context): return {bomb:?}\n"),
            ),
        ),
        (
            "a schema of aliases",
            request_of(
                instance,
                &[("t.jinja", "resources: []"), ("t.jinja.schema", &bomb)],
            ),
        ),
    ];
    for (what, attack) in attacks {
        is_refused(&expander, what, attack, ErrorCode::YamlTooLarge).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expansion_that_never_ends_is_refused_by_what_it_exceeds() {
    let expander = patient();
    let in_jinja = "resources: [{name: x, type: t.jinja}]";
    let in_python =
        "def GenerateConfig(context): return {'resources': [{'name': 'x', 'type': 't.py'}]}\n";
    let two = "def GenerateConfig(context): return {'resources': [{'name': n, 'type': t} for n, t in (('x', 't.py'), ('y', 'u.py'))]}\n";
    let wide = "resources:\n{% for n in range(20000) %}- {name: r{{ n }}, type: T}\n{% endfor %}";
    let attacks = [
        (
            "a Jinja template within itself",
            request("t.jinja", in_jinja),
            ErrorCode::TooDeep,
        ),
        (
            "a Python template within itself",
            request("t.py", in_python),
            ErrorCode::TooDeep,
        ),
        (
            "two Python templates within each other",
            request_of(
                "resources: [{name: a, type: t.py}]",
                &[("t.py", two), ("u.py", two)],
            ),
            ErrorCode::TooDeep,
        ),
        (
            "too many resources",
            request("t.jinja", wide),
            ErrorCode::TooManyResources,
        ),
        (
            "too many resources from Python",
            request(
                "t.py",
                "def GenerateConfig(context): return {'resources': [{'name': 'r%d' % n, 'type': 'T'} for n in range(11000)]}\n",
            ),
            ErrorCode::TooManyResources,
        ),
        (
            "a loop in Jinja",
            request(
                "t.jinja",
                "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            ),
            ErrorCode::TemplateFuel,
        ),
        (
            "a text that grows in Jinja",
            request(
                "t.jinja",
                "{% for n in range(1000) %}{{ 'x' * 100000 }}{% endfor %}",
            ),
            ErrorCode::TemplateOutput,
        ),
    ];
    for (what, attack, code) in attacks {
        is_refused(&expander, what, attack, code).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pattern_that_never_ends_has_a_code_of_its_own() {
    let expander = patient();
    let text = format!("{}!", "a".repeat(60));
    for (what, schema) in [
        (
            "a value",
            r"properties: {p: {pattern: '^(a|a)*\1b'}}".to_owned(),
        ),
        (
            "a branch",
            r"properties: {p: {anyOf: [{pattern: '^(a|a)*\1b'}, {type: integer}]}}".to_owned(),
        ),
    ] {
        let attack = request_of(
            &format!("resources: [{{name: a, type: t.jinja, properties: {{p: {text}}}}}]"),
            &[("t.jinja", "resources: []"), ("t.jinja.schema", &schema)],
        );
        is_refused(&expander, what, attack, ErrorCode::PatternTooCostly).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_python_templates_may_not_do_is_told_by_code_and_line() {
    let expander = patient();
    let attacks = [
        ("import socket", ErrorCode::TemplateImport),
        ("import ctypes", ErrorCode::TemplateImport),
        ("import no_such_helper", ErrorCode::TemplateImport),
        ("__import__('../../etc/passwd')", ErrorCode::TemplateImport),
        ("open('/etc/passwd')", ErrorCode::TemplateForbidden),
        ("open('/proc/1/environ')", ErrorCode::TemplateForbidden),
        ("open('/tmp/x', 'w')", ErrorCode::TemplateForbidden),
        (
            "import os; os.kill(os.getppid(), 9)",
            ErrorCode::TemplateForbidden,
        ),
        ("import os; os.fork()", ErrorCode::TemplateForbidden),
        ("raise ValueError('x')", ErrorCode::TemplateFailed),
    ];
    for (line, code) in attacks {
        let source = format!("def GenerateConfig(context):\n  {line}\n  return {{}}\n");
        let error = expander
            .expand(request("t.py", &source))
            .await
            .unwrap_err()
            .0;
        let place = error.location.clone().unwrap();
        assert_eq!((error.code, place.line), (code, Some(2)), "{line}: {error}");
        is_refused(&expander, line, request("t.py", &source), code).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_template_reads_a_file_of_the_machine_by_name() {
    let expander = patient();
    for path in [
        "/etc/passwd",
        "../../../../etc/passwd",
        "file:///etc/passwd",
    ] {
        for form in ["{% include P %}", "{% import P as p %}", "{% extends P %}"] {
            let source = form.replace('P', &format!("'{path}'"));
            let attack = request("t.jinja", &source);
            is_refused(&expander, &source, attack, ErrorCode::TemplateFailed).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jinja_template_that_makes_too_much_is_refused() {
    let expander = patient();
    for (what, template, expected) in [
        (
            "a text of a gigabyte",
            "{{ 'x' * 10 ** 9 }}",
            ErrorCode::TemplateOutput,
        ),
        (
            "a range of a billion",
            "{{ range(10 ** 9)|list }}",
            ErrorCode::TemplateOutput,
        ),
        (
            "a list of a billion",
            "{% set x = [1] * 10 ** 9 %}",
            ErrorCode::TemplateOutput,
        ),
        (
            "a list that doubles",
            "{% set x = [1] %}{% for i in range(100) %}{% do x.extend(x) %}{% endfor %}",
            ErrorCode::TemplateOutput,
        ),
        (
            "a text that doubles",
            "{% set n = namespace(x='xxxx') %}{% for i in range(100) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
            ErrorCode::TemplateOutput,
        ),
        (
            "many texts that are kept",
            "{% set x = [] %}{% for i in range(100000) %}{% do x.append('x' * 1000000 ~ i) %}{% endfor %}",
            ErrorCode::TemplateOutput,
        ),
        (
            "lists within lists without end",
            "{% set n = namespace(x=[]) %}{% for i in range(100000) %}{% set n.x = [n.x] %}{% endfor %}",
            ErrorCode::TemplateFailed,
        ),
        (
            "tuples within tuples without end",
            "{% set n = namespace(x=()) %}{% for i in range(100000) %}{% set n.x = (n.x,) %}{% endfor %}",
            ErrorCode::TemplateFailed,
        ),
        (
            "a list in itself",
            "{% set x = [] %}{% do x.append(x) %}{{ x }}",
            ErrorCode::TemplateFailed,
        ),
        (
            "two maps in each other",
            "{% set x = {} %}{% set y = {'x': x} %}{% do x.update({'y': y}) %}{{ x|tojson }}",
            ErrorCode::TemplateFailed,
        ),
        (
            "lists put into each other from the outside in",
            "{% set n = namespace(x=[]) %}{% set keep = n.x %}{% for i in range(100000) %}{% set y = [] %}{% do n.x.append(y) %}{% set n.x = y %}{% endfor %}",
            ErrorCode::TemplateFailed,
        ),
        (
            "nested loops",
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            ErrorCode::TemplateFuel,
        ),
        (
            "a width of a billion",
            "{{ '%1000000000d' % 1 }}",
            ErrorCode::TemplateOutput,
        ),
    ] {
        is_refused(&expander, what, request("t.jinja", template), expected).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_jinja_template_that_looks_through_much_again_and_again_ends_with_its_request() {
    let expander = expander(Duration::from_secs(1), jinja::Limits::default());
    for (what, template) in [
        (
            "a list that is searched",
            "{% set l = range(100000)|list %}{% for i in range(100000) %}{% if -1 in l %}{% endif %}{% endfor %}",
        ),
        (
            "a text that is searched",
            "{% set t = 'x' * 4000000 %}{% for i in range(100000) %}{% if 'y' in t %}{% endif %}{% endfor %}",
        ),
        (
            "macros that call themselves, without a loop",
            "{% set t = 'x' * 4000000 %}{% macro m(n) %}{% if 'y' in t %}{% endif %}{% if n %}{% set _ = m(n - 1) %}{% set _ = m(n - 1) %}\
             {% endif %}{% endmacro %}{% set _ = m(14) %}",
        ),
    ] {
        let late = expander.expand(request("t.jinja", template)).await;
        let error = late
            .err()
            .unwrap_or_else(|| panic!("{what}: it got away with it"));
        assert_eq!(
            error.0.code,
            ErrorCode::TemplateTimeout,
            "{what}: {}",
            error.0
        );
        let next = expander.expand(request("t.jinja", "resources: []")).await;
        assert!(next.is_ok(), "after {what}");
    }
}
