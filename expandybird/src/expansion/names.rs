//! The names and types of resources: names are unique in their list, types are text.

use std::collections::HashSet;

use common::model::{LayoutPath, ResourceName, TypeName};
use serde_json::Value;

use super::error::{ExpansionError, Fault, kind};
use super::reading::Text;

const FIELDS: [&str; 4] = ["name", "type", "properties", "metadata"];

/// What Google's Deployment Manager has at a resource and this one has not, each with what to use instead.
const UNSUPPORTED: [(&str, &str); 3] = [
    (
        "/accessControl",
        "give the rights with RBAC objects, such as a RoleBinding",
    ),
    (
        "/action",
        "use a Job for work, and metadata.dependsOn for the order",
    ),
    (
        "/metadata/runtimePolicy",
        "use a Job that others depend on, or the policies createPolicy, updatePolicy and deletePolicy",
    ),
];

/// Checked first, as in Google's Deployment Manager: a duplicate name is reported even if another name is missing.
pub fn check_unique(
    resources: &[Value],
    text: &Text<'_>,
    path: &LayoutPath,
) -> Result<(), ExpansionError> {
    let mut met = HashSet::new();
    for (index, resource) in resources.iter().enumerate() {
        let Some(name) = resource.get("name").and_then(spelled) else {
            continue;
        };
        if met.insert(name.clone()) {
            continue;
        }
        let fault = Fault::DuplicateName {
            name: name.clone(),
            list: text.list.to_owned(),
        };
        let mut error = text.fault(
            fault,
            &format!("/resources/{index}/name"),
            &path.child(index),
        );
        error.location.resource = Some(name);
        return Err(error);
    }
    Ok(())
}

/// The name and the type of a resource.
pub struct Identity {
    pub name: ResourceName,
    pub type_name: TypeName,
}

pub fn identify(
    resource: &Value,
    text: &Text<'_>,
    pointer: &str,
    path: &LayoutPath,
    warnings: &mut Vec<String>,
) -> Result<Identity, ExpansionError> {
    let at = |fault: Fault, field: &str| text.fault(fault, &format!("{pointer}{field}"), path);
    let Value::Object(map) = resource else {
        let fault = Fault::EntryNotAMap {
            field: "resources",
            found: kind(resource),
            entries: "a name and a type",
        };
        return Err(at(fault, ""));
    };
    let name = match map.get("name").filter(|name| !is_missing(name)) {
        None => return Err(at(Fault::MissingName, "")),
        Some(name) => spelled(name).ok_or_else(|| at(not_text("name", name), "/name"))?,
    };
    let of_resource = |fault: Fault, field: &str| {
        let mut error = at(fault, field);
        error.location.resource = Some(name.clone());
        error
    };
    let mut unsupported = UNSUPPORTED.iter();
    if let Some((field, instead)) = unsupported.find(|(field, _)| resource.pointer(field).is_some())
    {
        let key = field.rsplit('/').next().unwrap_or_default();
        return Err(of_resource(Fault::Unsupported { key, instead }, field));
    }
    let type_name = match map.get("type").filter(|name| !is_missing(name)) {
        None => return Err(of_resource(Fault::MissingType, "")),
        Some(Value::String(name)) => name.clone(),
        Some(other) => return Err(of_resource(not_text("type", other), "/type")),
    };
    for field in map.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
        warnings.push(format!(
            "{path} ('{name}'): the field '{field}' has no meaning here and is left out"
        ));
    }
    Ok(Identity {
        type_name: TypeName::parse(type_name)
            .map_err(|error| of_resource(error.into(), "/type"))?,
        name: ResourceName::parse(name.clone())
            .map_err(|error| of_resource(error.into(), "/name"))?,
    })
}

fn is_missing(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

/// A name may be written as a number. Google's Deployment Manager accepts it, and it is not ambiguous.
fn spelled(name: &Value) -> Option<String> {
    match name {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn not_text(field: &'static str, found: &Value) -> Fault {
    Fault::NotText {
        field,
        found: kind(found),
    }
}
