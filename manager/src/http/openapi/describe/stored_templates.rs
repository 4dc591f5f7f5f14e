//! Stored Template objects.

use std::collections::BTreeMap;

use common::model::TemplateName;
use serde_json::{Map, Value, json};

use super::*;
use crate::http::templates::patches::{LIST, MERGE};
use crate::http::templates::stored_templates::{ListQuery, NamespaceQuery, ProcessQuery};
use crate::service::templates::template_patch::OPERATIONS;

pub fn list(of: &mut SchemaGenerator) -> Description {
    Description::new("Stored Template objects of a namespace")
        .query::<ListQuery>(of)
        .answers::<Value>(200, "A TemplateList: a page of them by name.", of)
        .fails(&[Forbidden])
}

pub fn create(of: &mut SchemaGenerator) -> Description {
    Description::new("Store a Template object; nothing else happens")
        .query::<NamespaceQuery>(of)
        .body::<NamedTemplate>(of)
        .answers::<Value>(201, "The Template, as it is stored.", of)
        .with_header(201, "Location", "The Template's address.")
        .fails(&[AlreadyExists, InvalidTemplate])
}

pub fn get(of: &mut SchemaGenerator) -> Description {
    Description::new("A stored Template object")
        .query::<NamespaceQuery>(of)
        .answers::<Value>(200, "It.", of)
        .fails(&[NotFound])
}

pub fn replace(of: &mut SchemaGenerator) -> Description {
    Description::new("Replace a stored Template object")
        .query::<NamespaceQuery>(of)
        .body::<TemplateObject>(of)
        .answers::<Value>(200, "The Template, as it is stored.", of)
        .fails(&[NotFound, Conflict, InvalidTemplate])
}

pub fn patch(of: &mut SchemaGenerator) -> Description {
    let operations = json!({
        "type": "array", "maxItems": OPERATIONS,
        "items": {"type": "object", "required": ["op", "path"], "properties": {
            "op": {"enum": ["add", "remove", "replace", "move", "copy", "test"]},
            "path": {"type": "string"}, "from": {"type": "string"}, "value": {},
        }},
    });
    Description::new("Change fields of a stored Template object, by a patch")
        .query::<NamespaceQuery>(of)
        .bodies(&[(MERGE, json!({"type": "object"})), (LIST, operations)])
        .answers::<Value>(200, "The Template, as it is stored.", of)
        .fails(&[NotFound, Conflict, InvalidTemplate])
}

pub fn delete(of: &mut SchemaGenerator) -> Description {
    Description::new("Remove a stored Template object; what was deployed from it stays")
        .query::<NamespaceQuery>(of)
        .answers::<Value>(200, "Its last state.", of)
        .fails(&[NotFound, Conflict])
}

pub fn process(of: &mut SchemaGenerator) -> Description {
    Description::new(
        "Put the values of a Template's parameters into its objects; nothing is stored",
    )
    .query::<ProcessQuery>(of)
    .body::<TemplateObject>(of)
    .answers::<Value>(
        201,
        "The Template with its objects, or a List of these.",
        of,
    )
    .fails(&[InvalidTemplate, Unavailable])
}

pub fn process_stored(of: &mut SchemaGenerator) -> Description {
    Description::new("Process a stored Template object with these parameters; nothing is stored")
        .query::<ProcessQuery>(of)
        .body::<TemplateParameters>(of)
        .answers::<Value>(
            201,
            "The Template with its objects, or a List of these.",
            of,
        )
        .fails(&[NotFound, InvalidTemplate, Unavailable])
}

/// A Template object: the rest of it is checked when it is read.
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is wanted")]
struct TemplateObject {
    #[schemars(extend("enum" = ["v1", "template.openshift.io/v1"]))]
    api_version: String,
    #[schemars(extend("enum" = ["Template"]))]
    kind: String,
    /// Objects of Kubernetes.
    objects: Vec<Map<String, Value>>,
}

/// A Template object that is stored under its name.
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct NamedTemplate {
    #[serde(flatten)]
    template: TemplateObject,
    metadata: TemplateMetadata,
}

#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct TemplateMetadata {
    name: TemplateName,
}

/// The values of a Template's parameters. A list of names and values, and a map without `parameters` around it, are
/// accepted too.
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct TemplateParameters {
    parameters: Option<BTreeMap<String, String>>,
    /// Put over the labels of the Template.
    labels: Option<BTreeMap<String, String>>,
}
