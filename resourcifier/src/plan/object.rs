//! A resource as a Kubernetes object: missing parts of its properties are filled in.

use std::collections::HashMap;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{ObjectRef, Resource, ResourceMetadata};
use serde_json::{Map, Value, json};

use super::kinds::{Catalog, Wanted};
use super::references::{self, Names, Reference};
use super::reserved;
use super::rule::{FAIL_WHEN, READY_WHEN, Rule};
use super::{Desired, address, fault};
use crate::kubectl::ServedKind;

/// A resource whose kind is known.
#[derive(Debug, Clone)]
pub struct Draft<'a> {
    pub resource: &'a Resource,
    pub metadata: ResourceMetadata,
    pub kind: ServedKind,
    properties: Map<String, Value>,
}

/// A resource whose object is known.
#[derive(Debug, Clone)]
pub struct Object {
    pub id: ObjectRef,
    pub value: Value,
    pub references: Vec<Reference>,
}

impl Object {
    pub fn is_secret(&self) -> bool {
        self.id.kind == "Secret"
    }
}

fn invalid(resource: &Resource, message: String) -> ErrorBody {
    fault(ErrorCode::InvalidConfiguration, resource, message)
}

/// The kind from the type and the properties.
pub fn wanted(resource: &Resource) -> Result<Wanted, ErrorBody> {
    let mut wanted = Wanted::parse(resource.type_name.as_str());
    let properties = resource.properties.as_ref().and_then(Value::as_object);
    if let Some(kind) = stated(resource, properties, "kind")?
        && kind != wanted.kind
    {
        let message = format!(
            "resource {}: its type is {} and its properties say kind {kind}; make them the same",
            resource.name, resource.type_name
        );
        return Err(invalid(resource, message));
    }
    if let Some(stated) = stated(resource, properties, "apiVersion")? {
        if wanted
            .api_version
            .as_deref()
            .is_some_and(|api_version| api_version != stated)
        {
            let message = format!(
                "resource {}: its type is {} and its properties say apiVersion {stated}; make them the same",
                resource.name, resource.type_name
            );
            return Err(invalid(resource, message));
        }
        wanted.api_version = Some(stated.to_owned());
    }
    Ok(wanted)
}

fn stated<'a>(
    resource: &Resource,
    properties: Option<&'a Map<String, Value>>,
    field: &str,
) -> Result<Option<&'a str>, ErrorBody> {
    match properties.and_then(|properties| properties.get(field)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(
            resource,
            format!("resource {}: {field} is not a string", resource.name),
        )),
    }
}

/// Each resource with its kind. Definitions are handled first, because other resources may be of their kinds.
pub fn drafts<'a>(
    resources: &'a [Resource],
    catalog: &Catalog,
) -> Vec<Result<Draft<'a>, ErrorBody>> {
    let mut catalog = catalog.clone();
    let definitions = resources.iter().filter(|resource| {
        Wanted::parse(resource.type_name.as_str()).kind == "CustomResourceDefinition"
    });
    definitions
        .filter_map(|resource| resource.properties.as_ref())
        .for_each(|properties| catalog.add_definition(properties));
    resources
        .iter()
        .map(|resource| draft(resource, &catalog))
        .collect()
}

fn draft<'a>(resource: &'a Resource, catalog: &Catalog) -> Result<Draft<'a>, ErrorBody> {
    let metadata = ResourceMetadata::parse(resource.metadata.as_ref())
        .map_err(|error| invalid(resource, format!("resource {}: {error}", resource.name)))?;
    let properties = match &resource.properties {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(_) => {
            return Err(invalid(
                resource,
                format!("resource {}: its properties are not a map", resource.name),
            ));
        }
    };
    let wanted = wanted(resource)?;
    let kind = catalog.find(&wanted).map_err(|error| {
        fault(
            ErrorCode::UnknownType,
            resource,
            format!(
                "resource {} has type {}: {error}",
                resource.name, resource.type_name
            ),
        )
    })?;
    if !kind.applicable {
        return Err(invalid(
            resource,
            format!(
                "resource {}: objects of kind {} cannot be applied",
                resource.name, kind.kind
            ),
        ));
    }
    Ok(Draft {
        resource,
        metadata,
        kind: kind.clone(),
        properties,
    })
}

/// Each draft as an object.
pub fn resolve(drafts: &[Draft<'_>], desired: Desired<'_>) -> Vec<Result<Object, ErrorBody>> {
    let names = Names::new(drafts.iter().map(|draft| draft.resource.name.as_str()));
    drafts
        .iter()
        .map(|draft| resolve_one(draft, drafts, &names, desired))
        .collect()
}

fn resolve_one(
    draft: &Draft<'_>,
    drafts: &[Draft<'_>],
    names: &Names<'_>,
    desired: Desired<'_>,
) -> Result<Object, ErrorBody> {
    let resource = draft.resource;
    let value = Value::Object(draft.properties.clone());
    let references = references::collect(&value, names).map_err(|error| {
        fault(
            ErrorCode::InvalidReference,
            resource,
            format!("resource {}: {error}", resource.name),
        )
    })?;
    let mut metadata = map_of(resource, draft.properties.get("metadata"), "metadata")?;
    for section in ["labels", "annotations"] {
        map_of(resource, metadata.get(section), section)?;
    }
    reserved::check(resource, &mut metadata, &references)?;
    let stated = |field: &str| identity(draft, field, drafts, names);
    let name = stated("name")?.unwrap_or_else(|| resource.name.to_string());
    let namespace = namespace(draft, stated("namespace")?, desired)?;
    metadata.insert("name".to_owned(), json!(name));
    metadata.remove("namespace");
    metadata.extend(
        namespace
            .clone()
            .map(|namespace| ("namespace".to_owned(), json!(namespace))),
    );
    let id = ObjectRef {
        api_version: draft.kind.api_version.clone(),
        kind: draft.kind.kind.clone(),
        namespace,
        name,
    };
    address::check(resource, &id, &draft.kind)?;
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), json!(id.api_version));
    object.insert("kind".to_owned(), json!(id.kind));
    object.insert("metadata".to_owned(), Value::Object(metadata));
    for (key, value) in &draft.properties {
        object.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Ok(Object {
        id,
        value: Value::Object(object),
        references,
    })
}

fn map_of(
    resource: &Resource,
    value: Option<&Value>,
    what: &str,
) -> Result<Map<String, Value>, ErrorBody> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map.clone()),
        Some(_) => Err(invalid(
            resource,
            format!(
                "resource {}: {what} in its properties is not a map",
                resource.name
            ),
        )),
    }
}

fn namespace(
    draft: &Draft<'_>,
    stated: Option<String>,
    desired: Desired<'_>,
) -> Result<Option<String>, ErrorBody> {
    match (draft.kind.namespaced, stated) {
        (true, Some(namespace)) => Ok(Some(namespace)),
        (true, None) => Ok(Some(desired.namespace.to_string())),
        (false, None) => Ok(None),
        (false, Some(namespace)) => {
            let message = format!(
                "resource {}: {} objects belong to no namespace, but its properties name {namespace}; leave it out",
                draft.resource.name, draft.kind.kind
            );
            Err(invalid(draft.resource, message))
        }
    }
}

/// A part of the object's identity. It must be known before anything is applied, so it may refer only to the written
/// identity of another resource.
fn identity(
    draft: &Draft<'_>,
    field: &str,
    drafts: &[Draft<'_>],
    names: &Names<'_>,
) -> Result<Option<String>, ErrorBody> {
    let resource = draft.resource;
    let text = match draft
        .properties
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
    {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.is_empty() => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => {
            return Err(invalid(
                resource,
                format!(
                    "resource {}: metadata.{field} is not a string",
                    resource.name
                ),
            ));
        }
    };
    let lookup = |reference: &Reference| {
        written_identity(&drafts[reference.target], &reference.path.to_string())
            .map(|text| json!(text))
    };
    match references::substitute_text(text, names, &lookup) {
        Some(Value::String(text)) => Ok(Some(text)),
        _ => {
            let message = format!(
                "resource {}: metadata.{field} is {text}, but must be known before anything is applied: it can refer only to another resource's metadata.name or metadata.namespace where that is written out",
                resource.name
            );
            Err(fault(ErrorCode::InvalidReference, resource, message))
        }
    }
}

fn written_identity(draft: &Draft<'_>, path: &str) -> Option<String> {
    let field = path
        .strip_prefix("metadata.")
        .filter(|field| matches!(*field, "name" | "namespace"))?;
    let written = draft
        .properties
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
        .and_then(Value::as_str);
    match written {
        Some(text) if references::is_plain(text) => Some(text.to_owned()),
        Some(_) => None,
        None => (field == "name").then(|| draft.resource.name.to_string()),
    }
}

/// Rejects malformed readiness conditions. A condition with a reference is checked when it is applied.
pub fn rules(objects: &[Object], resources: &[Resource]) -> Vec<Result<(), ErrorBody>> {
    let check = |(object, resource): (&Object, &Resource)| {
        for annotation in [READY_WHEN, FAIL_WHEN] {
            let written = &object.value["metadata"]["annotations"][annotation];
            let Some(text) = written.as_str().filter(|text| references::is_plain(text)) else {
                continue;
            };
            if let Err(error) = Rule::parse(text) {
                let message = format!(
                    "resource {}: annotation {annotation}: {error}",
                    resource.name
                );
                let mut fault = invalid(resource, message);
                if let Some(location) = &mut fault.location {
                    location.path = Some(format!("metadata.annotations['{annotation}']"));
                }
                return Err(fault);
            }
        }
        Ok(())
    };
    objects.iter().zip(resources).map(check).collect()
}

/// Rejects two resources that are the same object.
pub fn distinct(objects: &[Object], resources: &[Resource]) -> Vec<Result<(), ErrorBody>> {
    let mut seen: HashMap<(&str, &str, Option<&str>, &str), usize> = HashMap::new();
    let mut results = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        let id = &object.id;
        if let Some(&first) = seen.get(&(id.group(), &id.kind, id.namespace.as_deref(), &id.name)) {
            let message = format!(
                "resources {} (type {}) and {} (type {}) are the same object, {id}: give one of them another metadata.name",
                resources[first].name,
                resources[first].type_name,
                resources[index].name,
                resources[index].type_name
            );
            results.push(Err(invalid(&resources[index], message)));
            continue;
        }
        seen.insert(
            (id.group(), &id.kind, id.namespace.as_deref(), &id.name),
            index,
        );
        results.push(Ok(()));
    }
    results
}
