//! A resource as a Kubernetes object: missing parts of its properties are filled in.

mod address;
mod reserved;

use std::collections::HashMap;

use common::model::{ObjectRef, Resource, ResourceMetadata};
use serde_json::{Map, Value, json};

use super::Desired;
use super::error::{Fault, Problem};
use super::kinds::{Catalog, Wanted};
use super::references::{self, Names, Reference};
use super::rule::{FAIL_WHEN, READY_WHEN, Rule};
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

/// The kind from the type and the properties.
pub fn wanted(resource: &Resource) -> Result<Wanted, Problem> {
    let mut wanted = Wanted::parse(resource.type_name.as_str());
    let properties = resource.properties.as_ref().and_then(Value::as_object);
    let other = |field, stated: &str| Problem::OtherType {
        type_name: resource.type_name.clone(),
        field,
        stated: stated.to_owned(),
    };
    if let Some(kind) = stated(properties, "kind")?
        && kind != wanted.kind
    {
        return Err(other("kind", kind));
    }
    if let Some(stated) = stated(properties, "apiVersion")? {
        let own = wanted.api_version.as_deref();
        if own.is_some_and(|api_version| api_version != stated) {
            return Err(other("apiVersion", stated));
        }
        wanted.api_version = Some(stated.to_owned());
    }
    Ok(wanted)
}

fn stated<'a>(
    properties: Option<&'a Map<String, Value>>,
    field: &str,
) -> Result<Option<&'a str>, Problem> {
    match properties.and_then(|properties| properties.get(field)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Problem::NotText(field.to_owned())),
    }
}

/// Each resource with its kind. Definitions are handled first, because other resources may be of their kinds.
pub fn drafts<'a>(resources: &'a [Resource], catalog: &Catalog) -> Vec<Result<Draft<'a>, Fault>> {
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

fn draft<'a>(resource: &'a Resource, catalog: &Catalog) -> Result<Draft<'a>, Fault> {
    let invalid = |problem| Fault::of(resource, problem);
    let metadata = ResourceMetadata::parse(resource.metadata.as_ref())
        .map_err(|error| invalid(error.into()))?;
    let properties = match &resource.properties {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(_) => return Err(invalid(Problem::PropertiesNotMap)),
    };
    let wanted = wanted(resource).map_err(invalid)?;
    let kind = catalog.find(&wanted).map_err(|error| Fault::Type {
        resource: resource.name.clone(),
        type_name: resource.type_name.clone(),
        error,
    })?;
    if !kind.applicable {
        return Err(invalid(Problem::NotApplicable(kind.kind.clone())));
    }
    Ok(Draft {
        resource,
        metadata,
        kind: kind.clone(),
        properties,
    })
}

/// Each draft as an object.
pub fn resolve(drafts: &[Draft<'_>], desired: Desired<'_>) -> Vec<Result<Object, Fault>> {
    let names = Names::new(drafts.iter().map(|draft| draft.resource.name.as_str()));
    drafts
        .iter()
        .map(|draft| {
            resolve_one(draft, drafts, &names, desired)
                .map_err(|problem| Fault::of(draft.resource, problem))
        })
        .collect()
}

fn resolve_one(
    draft: &Draft<'_>,
    drafts: &[Draft<'_>],
    names: &Names<'_>,
    desired: Desired<'_>,
) -> Result<Object, Problem> {
    let value = Value::Object(draft.properties.clone());
    let references = references::collect(&value, names)?;
    let mut metadata = map_of(draft.properties.get("metadata"), "metadata")?;
    for section in ["labels", "annotations"] {
        map_of(metadata.get(section), section)?;
    }
    reserved::check(&mut metadata, &references)?;
    let stated = |field| identity(draft, field, drafts, names);
    let name = stated("name")?.unwrap_or_else(|| draft.resource.name.to_string());
    let namespace = namespace(draft, stated("namespace")?, desired)?;
    metadata.insert("name".to_owned(), json!(name));
    metadata.remove("namespace");
    let named = namespace.clone();
    metadata.extend(named.map(|namespace| ("namespace".to_owned(), json!(namespace))));
    let id = ObjectRef {
        api_version: draft.kind.api_version.clone(),
        kind: draft.kind.kind.clone(),
        namespace,
        name,
    };
    address::check(&id, &draft.kind)?;
    let value = Value::Object(object(&id, metadata, &draft.properties));
    Ok(Object {
        id,
        value,
        references,
    })
}

fn object(
    id: &ObjectRef,
    metadata: Map<String, Value>,
    properties: &Map<String, Value>,
) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), json!(id.api_version));
    object.insert("kind".to_owned(), json!(id.kind));
    object.insert("metadata".to_owned(), Value::Object(metadata));
    for (key, value) in properties {
        object.entry(key.clone()).or_insert_with(|| value.clone());
    }
    object
}

fn map_of(value: Option<&Value>, what: &'static str) -> Result<Map<String, Value>, Problem> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map.clone()),
        Some(_) => Err(Problem::NotMap(what)),
    }
}

fn namespace(
    draft: &Draft<'_>,
    stated: Option<String>,
    desired: Desired<'_>,
) -> Result<Option<String>, Problem> {
    match (draft.kind.namespaced, stated) {
        (true, Some(namespace)) => Ok(Some(namespace)),
        (true, None) => Ok(Some(desired.namespace.to_string())),
        (false, None) => Ok(None),
        (false, Some(namespace)) => Err(Problem::NoNamespace {
            kind: draft.kind.kind.clone(),
            namespace,
        }),
    }
}

/// A part of the object's identity. It must be known before anything is applied, so it may refer only to the written
/// identity of another resource.
fn identity(
    draft: &Draft<'_>,
    field: &'static str,
    drafts: &[Draft<'_>],
    names: &Names<'_>,
) -> Result<Option<String>, Problem> {
    let metadata = draft.properties.get("metadata");
    let text = match metadata.and_then(|metadata| metadata.get(field)) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.is_empty() => return Ok(None),
        Some(Value::String(text)) => text,
        Some(_) => return Err(Problem::NotText(format!("metadata.{field}"))),
    };
    let lookup = |reference: &Reference| {
        written_identity(&drafts[reference.target], &reference.path.to_string())
            .map(|text| json!(text))
    };
    match references::substitute_text(text, names, &lookup) {
        Some(Value::String(text)) => Ok(Some(text)),
        _ => Err(Problem::UnknownIdentity {
            field,
            text: text.clone(),
        }),
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
pub fn rules(objects: &[Object], resources: &[Resource]) -> Vec<Result<(), Fault>> {
    let check = |(object, resource): (&Object, &Resource)| {
        let annotations = &object.value["metadata"]["annotations"];
        for annotation in [READY_WHEN, FAIL_WHEN] {
            let written = annotations[annotation].as_str();
            if let Some(text) = written.filter(|text| references::is_plain(text)) {
                let rule = Rule::parse(text);
                rule.map_err(|error| Fault::of(resource, Problem::Rule { annotation, error }))?;
            }
        }
        Ok(())
    };
    objects.iter().zip(resources).map(check).collect()
}

/// Rejects objects that cannot be shared.
pub fn sharing(drafts: &[Draft<'_>], objects: &[Object]) -> Vec<Result<(), Fault>> {
    let check = |(draft, object): (&Draft<'_>, &Object)| {
        let is_definition = object.id.kind == "CustomResourceDefinition";
        match draft.metadata.shared && !is_definition {
            true => {
                let problem = Problem::NotShared(object.id.kind.clone());
                Err(Fault::of(draft.resource, problem))
            }
            false => Ok(()),
        }
    };
    drafts.iter().zip(objects).map(check).collect()
}

/// Rejects two resources that are the same object.
pub fn distinct(objects: &[Object], resources: &[Resource]) -> Vec<Result<(), Fault>> {
    let named = |index: usize| {
        let resource = &resources[index];
        (resource.name.clone(), resource.type_name.clone())
    };
    let mut seen = HashMap::new();
    let mut results = Vec::with_capacity(objects.len());
    for (index, object) in objects.iter().enumerate() {
        let first = *seen.entry(object.id.identity()).or_insert(index);
        results.push(match first == index {
            true => Ok(()),
            false => Err(Fault::SameObject {
                first: named(first),
                second: named(index),
                object: object.id.clone(),
            }),
        });
    }
    results
}
