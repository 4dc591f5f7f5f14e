//! The properties of a template, for users. They come from the parts of the schema that this module understands.

use common::api::manager::TemplateDescription;
use serde_json::{Map, Value};

use crate::terminal::text;

/// Deeper properties appear only with `-o yaml`.
const MAX_DEPTH: usize = 8;
/// The indent of a property; its description has twice as much.
const INDENT: &str = "  ";
const DEEPER: &str = "      ";

/// One property, at any depth.
struct Property<'s> {
    path: String,
    schema: &'s Value,
    is_required: bool,
    /// It is required, and so are all properties around it.
    is_needed: bool,
}

pub fn describe(template: &TemplateDescription, width: Option<usize>) -> String {
    let type_name = template.resolved.type_name.as_str();
    let mut shown = format!("{}\n", text::line(type_name));
    if let Some(title) = &template.title {
        shown.push_str(&format!("{}\n", text::line(title)));
    }
    if let Some(description) = &template.description {
        let lines = text::lines(description.trim_end());
        let wrapped = lines.lines().map(|line| text::wrapped(line, "", width));
        shown.push_str(&format!("\n{}", wrapped.collect::<String>()));
    }
    shown.push('\n');
    if let Some(version) = &template.resolved.version {
        shown.push_str(&format!("Version:  {}\n", text::line(version)));
    }
    let url = text::line(&template.resolved.url);
    shown.push_str(&format!("Source:   {url}\n\n"));
    let properties = template.schema.as_ref().map(properties);
    match &properties {
        Some(properties) if !properties.is_empty() => {
            shown.push_str("Properties:\n\n");
            shown.extend(properties.iter().map(|property| property.show(width)));
        }
        Some(_) => shown.push_str("Its schema names no properties.\n"),
        None => shown.push_str("It has no schema: it takes any properties.\n"),
    }
    shown
}

/// The command that deploys a template, and its example if it has one.
pub fn usage(template: &TemplateDescription) -> String {
    let properties = template.schema.as_ref().map(properties);
    let type_name = template.resolved.type_name.as_str();
    let command = command(type_name, &properties.unwrap_or_default());
    let mut shown = format!("\nDeploy it:\n\n{INDENT}{command}\n");
    if let Some(example) = &template.example {
        let example = text::lines(example.trim_end());
        shown.push_str(&format!("\nExample:\n\n{example}\n"));
    }
    shown
}

/// The command that deploys the template, with all required properties.
fn command(type_name: &str, properties: &[Property<'_>]) -> String {
    let is_parent = |path: &str| {
        let nested = format!("{path}.");
        let mut needed = properties.iter().filter(|property| property.is_needed);
        needed.any(|property| property.path.starts_with(&nested))
    };
    let needed = properties
        .iter()
        .filter(|property| property.is_needed && !is_parent(&property.path));
    let given: Vec<_> = needed
        .map(|property| format!("{}={}", property.path, property.placeholder()))
        .collect();
    let name = "--name NAME";
    let command = match given.is_empty() {
        true => format!("dm deploy {type_name} {name}"),
        false => {
            let given = given.join(",");
            format!("dm deploy {type_name} {name} --properties {given}")
        }
    };
    text::line(&command)
}

fn properties(schema: &Value) -> Vec<Property<'_>> {
    let mut found = Vec::new();
    add(&mut found, schema, "", (true, 0));
    found
}

fn add<'s>(
    found: &mut Vec<Property<'s>>,
    schema: &'s Value,
    prefix: &str,
    (is_needed, depth): (bool, usize),
) {
    let Some(properties) = schema["properties"]
        .as_object()
        .filter(|_| depth < MAX_DEPTH)
    else {
        return;
    };
    let required = schema["required"].as_array();
    for (name, schema) in properties {
        let path = format!("{prefix}{}", name.replace('.', "\\."));
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        let is_required = required.any(|required| required == name);
        let is_needed = is_needed && is_required && schema.get("default").is_none();
        found.push(Property {
            path: path.clone(),
            schema,
            is_required,
            is_needed,
        });
        add(found, schema, &format!("{path}."), (is_needed, depth + 1));
        let (items, prefix) = (&schema["items"], format!("{path}[]."));
        add(found, items, &prefix, (false, depth + 1));
    }
}

impl Property<'_> {
    /// `image: string, required`, with the description below.
    fn show(&self, width: Option<usize>) -> String {
        let mut facts = vec![type_of(self.schema)];
        if self.is_required {
            facts.push("required".to_owned());
        }
        if let Some(default) = self.schema.get("default") {
            facts.push(format!("default {default}"));
        }
        if self.schema["writeOnly"] == true || self.schema["format"] == "password" {
            facts.push("secret".to_owned());
        }
        let line = text::line(&format!("{}: {}", self.path, facts.join(", ")));
        let mut shown = text::wrapped(&line, INDENT, width);
        if let Some(description) = self.schema["description"].as_str() {
            let words: Vec<_> = description.split_whitespace().collect();
            let description = text::line(&words.join(" "));
            shown.push_str(&text::wrapped(&description, DEEPER, width));
        }
        shown
    }

    /// A placeholder for the value on a command line: the first choice, or the type.
    fn placeholder(&self) -> String {
        let choices = self.schema["enum"].as_array();
        let first = choices.and_then(|choices| choices.first()?.as_str());
        let is_plain = |text: &&str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !text.is_empty() && text.chars().all(plain)
        };
        match (first.filter(is_plain), self.schema["type"].as_str()) {
            (Some(first), _) => first.to_owned(),
            (None, Some("array")) => "'[…]'".to_owned(),
            (None, Some("object")) => "'{…}'".to_owned(),
            (None, Some(kind)) => kind.to_uppercase(),
            (None, None) => "VALUE".to_owned(),
        }
    }
}

/// `integer`, `string or null`, `list of string`, `"a" | "b"`.
fn type_of(property: &Value) -> String {
    let none = Map::new();
    let property = property.as_object().unwrap_or(&none);
    if let Some(Value::Array(choices)) = property.get("enum") {
        let choices: Vec<_> = choices.iter().map(Value::to_string).collect();
        return choices.join(" | ");
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

    fn whole(template: &TemplateDescription, width: Option<usize>) -> String {
        describe(template, width) + &usage(template)
    }

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
        insta::assert_snapshot!(whole(&template, None));
    }

    #[test]
    fn what_is_said_of_a_template_fits_a_narrow_terminal() {
        let long = "A sentence that is longer than the line that it has to be shown on.";
        let template: TemplateDescription = serde_json::from_value(json!({
            "type": "a:v1", "url": "file:a", "sha256": "sha256:0", "description": long,
            "schema": {"properties": {"key": {"type": "string", "writeOnly": true, "description": long}}},
        }))
        .unwrap();
        insta::assert_snapshot!(whole(&template, Some(40)));
    }

    #[test]
    fn a_template_without_schema_says_so() {
        let template: TemplateDescription = serde_json::from_value(
            json!({"type": "a:v1", "url": "http://x/\u{1b}", "sha256": "sha256:0"}),
        )
        .unwrap();
        insta::assert_snapshot!(whole(&template, None));
    }
}
