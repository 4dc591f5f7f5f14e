//! Names in the text of a template that nothing defines: properties that its schema does not have, and entries of `env`.
//!
//! It reads the text, not the syntax: the same for all languages. A name that is made at run time is not seen.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::fault::Fault;

/// `properties.a`, `properties["a"]`, `env['a']`. What calls a method, such as `properties.get(`, is left out below.
static USES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"\b(properties|env)(?:\.([A-Za-z_]\w*)|\[\s*["']([^"'\]]+)["']\s*\])(\s*\()?"#)
        .ok()
});
/// Comments of Jinja and Go templates, and of Python and YAML.
static COMMENTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?s)\{#.*?#\}|\{\{-?\s*/\*.*?\*/\s*-?\}\}|(?m:^\s*#.*$)").ok());

/// The entries of `env`: those of all templates, and those of templates behind a service broker.
const ENV: [&str; 13] = [
    "name",
    "type",
    "deployment",
    "project",
    "namespace",
    "manifest",
    "current_time",
    "username",
    "current_user",
    "instance_id",
    "binding_id",
    "service_id",
    "plan_id",
];

pub fn unknown(file: &str, text: &str, schema: Option<&Value>) -> Vec<Fault> {
    let (properties, env) = (schema.and_then(declared), ENV.map(str::to_owned).into());
    let mut faults = Vec::new();
    for (object, name, byte) in uses(text) {
        let known = match object {
            "env" => Some(&env),
            _ => properties.as_ref(),
        };
        if let Some(known) = known.filter(|known| !known.contains(name)) {
            faults.push(Fault::at(file, text, byte, said(object, name, known)));
        }
    }
    faults
}

/// The object, the name and the place of each use outside of comments. A method is no name.
fn uses(text: &str) -> Vec<(&str, &str, usize)> {
    let comments = COMMENTS.as_ref();
    let comments = comments.into_iter().flat_map(|all| all.find_iter(text));
    let comments: Vec<_> = comments.map(|comment| comment.range()).collect();
    let used = USES.as_ref();
    let used = used.into_iter().flat_map(|all| all.captures_iter(text));
    let named = used
        .filter(|found| found.get(4).is_none())
        .filter_map(|found| {
            let name = found.get(2).or(found.get(3))?;
            Some((found.get(1)?.as_str(), name.as_str(), name.start()))
        });
    let is_code = |byte: usize| !comments.iter().any(|comment| comment.contains(&byte));
    named.filter(|(_, _, byte)| is_code(*byte)).collect()
}

/// The properties of a schema, if it has any. One that takes others on purpose has no unknown ones.
fn declared(schema: &Value) -> Option<BTreeSet<String>> {
    let takes_others = match &schema["additionalProperties"] {
        Value::Bool(takes) => *takes,
        Value::Null => false,
        _ => true,
    };
    let composed = ["allOf", "anyOf", "oneOf", "$ref", "patternProperties"];
    if takes_others || composed.iter().any(|key| schema.get(key).is_some()) {
        return None;
    }
    let properties = schema["properties"].as_object()?;
    Some(properties.keys().cloned().collect())
}

fn said(object: &str, name: &str, known: &BTreeSet<String>) -> String {
    let rated = known
        .iter()
        .map(|other| (strsim::normalized_damerau_levenshtein(name, other), other));
    let nearest = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
    let near = match nearest.filter(|(nearness, _)| *nearness >= 0.6) {
        Some((_, near)) => format!("; did you mean {near:?}?"),
        None => format!(
            "; there are: {}",
            known
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ")
        ),
    };
    match object {
        "env" => format!("env has no {name:?}{near}"),
        _ => format!("the schema has no property {name:?}{near}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        let schema = json!({"properties": {"replicas": {}, "image": {}}});
        let faults = unknown("t", text, Some(&schema)).into_iter();
        faults.map(|fault| fault.to_string()).collect()
    }

    #[test]
    fn a_property_that_the_schema_does_not_have_is_found_in_each_language() {
        for text in [
            "a: {{ properties.replica }}",
            "a: {{ properties['replica'] }}",
            "a = context.properties[\"replica\"]",
            "a: {{ .properties.replica }}",
        ] {
            let [fault] = found(text).try_into().unwrap();
            let column = text.find("replica").unwrap() + 1;
            let expected = format!(
                "t:1:{column}: the schema has no property \"replica\"; did you mean \"replicas\"?"
            );
            assert_eq!(fault, expected);
        }
    }

    #[test]
    fn known_names_methods_and_comments_are_no_faults() {
        for text in [
            "{{ properties.replicas }}{{ properties[\"image\"] }}{{ env.name }}{{ env['namespace'] }}",
            "{{ properties.get('x') }}{% for k in properties.items() %}{% endfor %}",
            "{# properties.other #}",
            "# properties.other",
            "{{/* .properties.other */}}",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        let open = json!({"additionalProperties": true, "properties": {"a": {}}});
        assert!(unknown("t", "{{ properties.b }}", Some(&open)).is_empty());
        assert!(unknown("t", "{{ properties.b }}", None).is_empty());
    }

    #[test]
    fn the_entries_of_env_are_those_that_templates_get() {
        let environment = common::api::expander::Environment {
            deployment: common::model::DeploymentName::parse("web").unwrap(),
            namespace: common::model::Namespace::parse("shop").unwrap(),
            manifest: common::model::ManifestName::parse("manifest-1700000000000").unwrap(),
            username: String::new(),
            current_time: 0,
        };
        for name in environment.to_map().keys() {
            assert!(ENV.contains(&name.as_str()), "{name}");
        }
    }

    #[test]
    fn an_entry_that_env_does_not_have_is_found() {
        let [fault] = found("{{ env.nmae }}").try_into().unwrap();
        assert_eq!(fault, "t:1:8: env has no \"nmae\"; did you mean \"name\"?");
    }
}
