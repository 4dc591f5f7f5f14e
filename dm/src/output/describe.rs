//! What a template takes, for people: read from its schema, which is shown as far as it is understood.

use common::api::manager::TemplateDescription;
use serde_json::{Map, Value};

use super::table::Table;
use super::text;

/// Properties nested deeper are left to `-o yaml`.
const MAX_DEPTH: usize = 8;

pub fn describe(template: &TemplateDescription, width: Option<usize>) -> String {
    let mut shown = format!("{}\n", text::line(template.resolved.type_name.as_str()));
    if let Some(title) = &template.title {
        shown.push_str(&format!("{}\n", text::line(title)));
    }
    if let Some(description) = &template.description {
        shown.push_str(&format!("\n{}\n", text::lines(description.trim_end())));
    }
    if let Some(version) = &template.resolved.version {
        shown.push_str(&format!("\nVersion:  {}\n", text::line(version)));
    }
    shown.push_str(&format!(
        "Source:   {}\n",
        text::line(&template.resolved.url)
    ));
    let properties = template.schema.as_ref().map(properties);
    match properties {
        Some(table) if !table.is_empty() => shown.push_str(&format!("\n{}", table.render(width))),
        Some(_) => shown.push_str("\nIts schema names no properties.\n"),
        None => shown.push_str("\nIt has no schema: it takes any properties.\n"),
    }
    if let Some(example) = &template.example {
        shown.push_str(&format!(
            "\nExample:\n\n{}\n",
            text::lines(example.trim_end())
        ));
    }
    shown
}

fn properties(schema: &Value) -> Table {
    let mut table = Table::new(&["PROPERTY", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"]);
    add(&mut table, schema, "", 0);
    table
}

fn add(table: &mut Table, schema: &Value, prefix: &str, depth: usize) {
    let Some(properties) = schema["properties"]
        .as_object()
        .filter(|_| depth < MAX_DEPTH)
    else {
        return;
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in properties {
        let path = format!("{prefix}{}", name.replace('.', "\\."));
        let needed = if required.contains(&name.as_str()) {
            "yes"
        } else {
            ""
        };
        let default = property
            .get("default")
            .map(Value::to_string)
            .unwrap_or_default();
        let description = property["description"].as_str().unwrap_or_default();
        table.row([
            &path,
            &type_of(property),
            needed,
            &default,
            description.trim(),
        ]);
        add(table, property, &format!("{path}."), depth + 1);
        if property["items"].is_object() {
            add(table, &property["items"], &format!("{path}[]."), depth + 1);
        }
    }
}

/// `integer`, `string or null`, `list of string`, `one of "a", "b"`.
fn type_of(property: &Value) -> String {
    let none = Map::new();
    let property = property.as_object().unwrap_or(&none);
    if let Some(Value::Array(choices)) = property.get("enum") {
        let choices: Vec<_> = choices.iter().map(Value::to_string).collect();
        return format!("one of {}", choices.join(", "));
    }
    match property.get("type") {
        Some(Value::String(name)) if name == "array" => match property
            .get("items")
            .and_then(|items| items["type"].as_str())
        {
            Some(item) => format!("list of {item}"),
            None => "list".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_template_is_described_with_its_properties_and_an_example() {
        let template: TemplateDescription = serde_json::from_value(json!({
            "type": "replicatedservice:v1", "version": "v1.0.1", "url": "file:charts/replicatedservice/v1.0.1/replicatedservice.py", "sha256": "sha256:0",
            "title": "A replicated service", "description": "Pods behind a service.\nOf one image.",
            "schema": {
                "required": ["image"],
                "properties": {
                    "image": {"type": "string", "description": "What the pods run."},
                    "replicas": {"type": "integer", "default": 1},
                    "service": {"type": "object", "required": ["port"], "properties": {
                        "port": {"type": "integer"},
                        "kind": {"enum": ["ClusterIP", "NodePort"], "default": "ClusterIP"},
                    }},
                    "env": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": ["string", "null"]}}}},
                    "extra": {},
                },
            },
            "example": "resources:\n- name: web\n  type: replicatedservice:v1\n",
        }))
        .unwrap();
        insta::assert_snapshot!(describe(&template, None));
    }

    #[test]
    fn a_template_without_schema_says_so() {
        let template: TemplateDescription = serde_json::from_value(
            json!({"type": "a:v1", "url": "http://x/\u{1b}", "sha256": "sha256:0"}),
        )
        .unwrap();
        insta::assert_snapshot!(describe(&template, None));
    }
}
