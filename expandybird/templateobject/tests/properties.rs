//! What holds for every Template: against the grammar as regular expressions, and for what is large.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::HashMap;

use expandybird_templateobject::{Inputs, Seeded, Template, limits, process};
use proptest::prelude::*;
use regex::{Captures, Regex};
use serde_json::{Value, json};

const VALUES: [(&str, &str); 4] = [("A", "1"), ("B", "${A}$(A)"), ("AB", ""), ("A_1", "true")];

fn substituted(dialect: &str, text: &str) -> Value {
    let parameters: Vec<_> = VALUES
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let template = json!({
        "apiVersion": "v1", "kind": "Template", "parameters": parameters,
        "metadata": {"annotations": {"deployment-manager.dev/template-dialect": dialect}},
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "field": [text]}],
    });
    let mut values = Seeded::new(b"", "", HashMap::new());
    let template = Template::read(template).unwrap();
    let found = process(template, &Inputs::default(), &mut values).unwrap();
    found.objects[0]["field"][0].clone()
}

fn value(name: &str) -> Option<&'static str> {
    let found = VALUES.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value)
}

fn replaced(pattern: &str, text: &str, prefix: usize) -> String {
    let replace = |found: &Captures<'_>| {
        let whole = &found[0];
        let chosen = value(&found[found.len() - 1]).filter(|_| found[1].len() % 2 == prefix);
        chosen.map_or_else(
            || whole.to_owned(),
            |value| {
                let kept = found[1].len().saturating_sub(prefix);
                format!("{}{value}", &found[1][..kept])
            },
        )
    };
    Regex::new(pattern)
        .unwrap()
        .replace_all(text, replace)
        .into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn openshift_s_grammar_is_its_regular_expressions(text in r"([ABx_]|\$|\{|\}|\$\{A\}|\$\{AB\}){0,24}") {
        let whole = Regex::new(r"^\$\{\{([a-zA-Z0-9_]+)\}\}$").unwrap();
        prop_assume!(!whole.is_match(&text));
        let expected = replaced(r"()\$\{([a-zA-Z0-9_]+)\}", &text, 0);
        prop_assert_eq!(substituted("openshift", &text), Value::from(expected));
    }

    #[test]
    fn the_proposal_s_quoted_grammar_is_a_regular_expression(text in r"([ABx_]|\$|\(|\)|\$\(A\)|\$\(AB\)){0,24}") {
        prop_assume!(!text.contains("(("));
        let expected = replaced(r"(\$+)\(([a-zA-Z0-9_]+)\)", &text, 1);
        prop_assert_eq!(substituted("proposal", &text), Value::from(expected));
    }

    #[test]
    fn no_text_brings_the_processor_down(text in ".{0,40}", dialect in prop::sample::select(vec!["proposal", "openshift"])) {
        substituted(dialect, &text);
    }

    #[test]
    fn a_processed_template_is_its_own_result(seed in any::<u64>()) {
        let template = json!({
            "apiVersion": "template.openshift.io/v1", "kind": "Template", "message": "p ${P}", "labels": {"a": "${N}"},
            "parameters": [{"name": "N", "value": "web"}, {"name": "P", "generate": "expression", "from": "[\\w]{12}", "required": true}],
            "objects": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "${N}"}, "stringData": {"p": "${P}"}}],
        });
        let run = |document: Value| {
            let mut values = Seeded::new(&seed.to_le_bytes(), "", HashMap::new());
            let template = Template::read(document).unwrap();
            process(template, &Inputs::default(), &mut values).unwrap().into_template()
        };
        let once = run(template);
        prop_assert_eq!(run(once.clone()), once);
    }
}

#[test]
fn five_thousand_parameters_are_processed_and_one_more_is_refused() {
    let template = |count: usize| {
        let names = (0..count).map(|index| format!("P{index}"));
        let parameters: Vec<_> = names
            .clone()
            .map(|name| json!({"name": name, "value": name}))
            .collect();
        let data: Vec<_> = names.map(|name| format!("${{{name}}}")).collect();
        json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "parameters": parameters,
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "data": data}]})
    };
    let mut values = Seeded::new(b"", "", HashMap::new());
    let found = Template::read(template(limits::PARAMETERS)).unwrap();
    let found = process(found, &Inputs::default(), &mut values).unwrap();
    assert_eq!(found.objects[0]["data"][4_999], "P4999");
    let refused = Template::read(template(limits::PARAMETERS + 1)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "parameters: Too many: 5001: must have at most 5000 items"
    );
}

#[test]
fn a_result_that_grows_without_end_is_refused() {
    let long = "x".repeat(1 << 20);
    let texts = vec!["${P}"; 100];
    let deep = format!("{}{}", "[".repeat(99), "]".repeat(99));
    for (value, objects, expected) in [
        (long, json!(texts), "64 MiB"),
        (deep, json!(["${{P}}"]), "deeper than 100 levels"),
    ] {
        let template = json!({"apiVersion": "template.openshift.io/v1", "kind": "Template", "parameters": [{"name": "P", "value": value}],
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "data": objects}]});
        let mut values = Seeded::new(b"", "", HashMap::new());
        let refused = process(
            Template::read(template).unwrap(),
            &Inputs::default(),
            &mut values,
        )
        .unwrap_err();
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}
