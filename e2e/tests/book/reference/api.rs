//! `api.md`: the OpenAPI document of the manager as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result};
use e2e::program::{Service, path_of};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::super::markdown::anchor;
use super::{cell, compare, compare_file, get};

const INTRODUCTION: &str = "# HTTP API\n\n\
    The manager describes its API in OpenAPI 3.1 at `GET /openapi.json`. This page is made from that document. Every error answer is an \
    [ErrorBody](#errorbody). [Error codes](error-codes.md) explains its codes. Every route may also answer 414, 421, 429 and 431, which are not repeated below.\n\n";

/// What a field's schema says, in a few words.
fn type_of(schema: &Value) -> String {
    let list = |key: &str| {
        schema[key]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    if let Some(target) = schema["$ref"].as_str() {
        let name = target.rsplit('/').next().unwrap_or_default();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    for key in ["allOf", "anyOf", "oneOf", "enum"] {
        let parts: Vec<_> = match key {
            "enum" => list(key).iter().map(|value| format!("`{value}`")).collect(),
            _ => list(key).iter().map(type_of).collect(),
        };
        if !parts.is_empty() {
            return parts.join(if key == "allOf" { " and " } else { " or " });
        }
    }
    match &schema["type"] {
        Value::String(name) => of_kind(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            names
                .map(|name| of_kind(name, schema))
                .collect::<Vec<_>>()
                .join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn of_kind(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", type_of(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("map of {}", type_of(&schema["additionalProperties"]))
        }
        _ => name.to_owned(),
    }
}

/// The first schema of a body or an answer, and its media types.
fn content(body: &Value) -> String {
    let Some(types) = body["content"].as_object() else {
        return String::new();
    };
    let names: Vec<_> = types.keys().map(|name| format!("`{name}`")).collect();
    let schema = types.values().next().map(|media| type_of(&media["schema"]));
    format!("{} ({})", schema.unwrap_or_default(), names.join(", "))
}

fn parameters(operation: &Value) -> String {
    let mut rows = String::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let text = |key: &str| parameter[key].as_str().unwrap_or_default();
        let kind = cell(&type_of(&parameter["schema"]));
        let (name, place, meaning) = (text("name"), text("in"), cell(text("description")));
        let _ = writeln!(rows, "| `{name}` | {place} | {kind} | {meaning} |");
    }
    match rows.is_empty() {
        true => rows,
        false => format!("| parameter | in | type | meaning |\n|---|---|---|---|\n{rows}\n"),
    }
}

/// The codes of an error answer.
fn codes(answer: &Value) -> Option<String> {
    let codes: Vec<_> = answer["x-codes"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let codes = codes.iter().map(|code| format!("`{code}`"));
    Some(codes.collect::<Vec<_>>().join(", "))
}

fn answers(operation: &Value) -> String {
    let mut rows = "| status | answer |\n|---|---|\n".to_owned();
    let answers: BTreeMap<_, _> = operation["responses"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    // What every route may answer is a reference to one description.
    let own = answers
        .into_iter()
        .filter(|(_, answer)| answer["$ref"].is_null());
    for (status, answer) in own {
        let meaning = match codes(answer) {
            Some(codes) => codes,
            None => {
                let description = cell(answer["description"].as_str().unwrap_or_default());
                format!("{description} {}", content(answer))
            }
        };
        let _ = writeln!(rows, "| {status} | {} |", meaning.trim());
    }
    rows
}

/// A table of all routes, then a section for each.
fn operations(paths: &Map<String, Value>) -> String {
    let mut table = "| route | what it does |\n|---|---|\n".to_owned();
    let mut sections = String::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let route = format!("{} {path}", method.to_uppercase());
            let summary = operation["summary"].as_str().unwrap_or_default();
            let _ = writeln!(table, "| [{route}](#{}) | {summary} |", anchor(&route));
            let _ = writeln!(sections, "## `{route}`\n\n{summary}\n");
            sections += &section(operation);
        }
    }
    format!("{table}\n{sections}")
}

fn section(operation: &Value) -> String {
    let mut section = parameters(operation);
    if operation["requestBody"].is_object() {
        let _ = writeln!(section, "Body: {}\n", content(&operation["requestBody"]));
    }
    section + &answers(operation) + "\n"
}

/// The fields of a type, or of each of its alternatives.
fn fields(schema: &Value) -> String {
    let mut rows = String::new();
    let is_required = |name: &String| {
        let required = schema["required"].as_array();
        required.is_some_and(|names| names.iter().any(|required| required == name))
    };
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let meaning = cell(field["description"].as_str().unwrap_or_default());
        let needed = if is_required(name) { "yes" } else { "" };
        let _ = writeln!(
            rows,
            "| `{name}` | {} | {needed} | {meaning} |",
            cell(&type_of(field))
        );
    }
    if !rows.is_empty() {
        return format!("| field | type | required | meaning |\n|---|---|---|---|\n{rows}\n");
    }
    let alternatives = schema["oneOf"].as_array().or(schema["anyOf"].as_array());
    let Some(alternatives) = alternatives else {
        return format!("Type: {}\n\n", type_of(schema));
    };
    alternatives.iter().map(alternative).collect()
}

fn alternative(schema: &Value) -> String {
    let description = cell(schema["description"].as_str().unwrap_or_default());
    match schema["properties"].is_object() {
        true => format!("{description}\n\n{}", fields(schema)),
        false => format!("- {} {description}\n", type_of(schema)),
    }
}

fn types(schemas: &Map<String, Value>) -> String {
    let mut page = "# Types\n\n".to_owned();
    for (name, schema) in schemas {
        if name == "ErrorCode" {
            page += "## ErrorCode\n\nOne of the [error codes](error-codes.md).\n\n";
            continue;
        }
        let description = schema["description"].as_str().unwrap_or_default();
        let _ = write!(page, "## {name}\n\n{description}\n\n{}\n", fields(schema));
    }
    page
}

#[tokio::test]
async fn the_page_of_the_api_has_every_route_and_every_type() -> Result<()> {
    let folder = TempDir::new()?;
    let args = ["--store", "memory"].map(str::to_owned).to_vec();
    let manager = Service::start("manager", folder.path(), args).await?;
    let document: Value = serde_json::from_str(&get(&manager, "/openapi.json").await?)?;
    let paths = document["paths"].as_object().context("no paths")?;
    let schemas = document["components"]["schemas"].as_object();
    let types = types(schemas.context("no schemas")?);
    let page = format!("{INTRODUCTION}{}{types}", operations(paths));
    compare("api.md", page.trim_end());
    Ok(())
}

/// The page generates its types from this file, so that it can be built before the manager that contains it.
#[tokio::test]
async fn the_page_knows_every_type_of_the_api() -> Result<()> {
    let printed = Command::new(path_of("manager")?)
        .arg("--print-openapi")
        .output()?;
    let mut document: Value = serde_json::from_slice(&printed.stdout)?;
    document["paths"] = json!({});
    let schemas = document["components"]["schemas"].take();
    document["components"] = json!({ "schemas": schemas });
    compare_file("manager/ui/openapi.json", &format!("{document:#}\n"));
    Ok(())
}
