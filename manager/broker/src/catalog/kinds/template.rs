//! `kind: Template`: a service with one plan, whose parameters are those of the Template. What its objects expose are the
//! credentials of a binding.
//!
//! Its annotations are the metadata that platforms show, with the names that OpenShift's template service broker gives them.

use common::canonical;
use common::manifests::is_template;
use common::model::{Import, TypeName};
use common::node::{Fault, Node};
use expandybird_templateobject::{Template as Object, schema};
use serde_json::{Map, Value, json};

use super::{Document, Gathered};
use crate::catalog::{Bind, Gives, Plan, Schema, Schemas, Service, Template};

const DRAFT: &str = "http://json-schema.org/draft-04/schema#";
const BINDABLE: &str = "template.openshift.io/bindable";
const PLAN: &str = "default";
/// Annotations, and the keys of the metadata that they become.
const SHOWN: [(&str, &str); 6] = [
    ("openshift.io/display-name", "displayName"),
    ("openshift.io/long-description", "longDescription"),
    ("openshift.io/provider-display-name", "providerDisplayName"),
    ("openshift.io/documentation-url", "documentationUrl"),
    ("openshift.io/support-url", "supportUrl"),
    ("iconClass", "console.openshift.io/iconClass"),
];

pub fn recognises(document: &Value) -> bool {
    is_template(document)
}

pub fn read(document: &Document<'_>, gathered: &mut Gathered) {
    let Some(root) = document.root() else { return };
    let object = match Object::read(document.value.clone()) {
        Ok(object) => object,
        Err(faults) => {
            let faults = faults.0.iter().map(|fault| Fault {
                pointer: fault.field.pointer().to_owned(),
                message: fault.message(),
            });
            document.faults.borrow_mut().extend(faults);
            return;
        }
    };
    let Some(metadata) = root.required_object("metadata") else {
        return;
    };
    let id = id(&metadata);
    gathered.taken.name(&metadata);
    for id in [&id, &plan_id(&id)] {
        if !gathered.taken.take_id(id) {
            metadata.fault("uid", "another service or plan has this id");
        }
    }
    let create = create_schema(&object);
    gathered.listed.push(listed(&id, &object, &create));
    gathered
        .services
        .push(service(id, &object, &create, document, &root));
}

/// The UID stays the same when the Template changes. In a file it may have none.
fn id(metadata: &Node<'_>) -> String {
    let text = |key: &str| metadata.map.get(key).and_then(Value::as_str);
    text("uid").map_or_else(
        || {
            let names = json!([text("namespace"), text("name")]);
            let digest = canonical::digest(&names).to_string();
            digest.trim_start_matches("sha256:")[..32].to_owned()
        },
        str::to_owned,
    )
}

/// The ids of services and plans are different.
fn plan_id(service: &str) -> String {
    format!("{service}-{PLAN}")
}

fn is_bindable(object: &Object) -> bool {
    object.annotation(BINDABLE) != Some("false")
}

fn create_schema(object: &Object) -> Value {
    let mut schema = schema(object);
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("info");
        schema.insert("$schema".to_owned(), json!(DRAFT));
    }
    schema
}

/// Nothing is asked of a bind.
fn bind_schema() -> Value {
    json!({"$schema": DRAFT, "type": "object", "additionalProperties": false})
}

/// What platforms see.
fn listed(id: &str, object: &Object, create: &Value) -> Value {
    let annotation = |key: &str| object.annotation(key).filter(|text| !text.is_empty());
    let tags = annotation("tags").unwrap_or_default().split(',');
    let tags: Vec<_> = tags.map(str::trim).filter(|tag| !tag.is_empty()).collect();
    let metadata = SHOWN.iter().filter_map(|(from, to)| {
        let text = annotation(from)?;
        Some(((*to).to_owned(), Value::from(text)))
    });
    let order = object.parameters.iter().map(|one| one.name.as_str());
    let order: Vec<_> = order.collect();
    let form = json!({"openshift_form_definition": order});
    let mut schemas = json!({"service_instance": {"create": {"parameters": create}}});
    if is_bindable(object) {
        schemas["service_binding"] = json!({"create": {"parameters": bind_schema()}});
    }
    json!({
        "id": id,
        "name": object.name(),
        "description": annotation("description").unwrap_or("No description provided."),
        "tags": tags,
        "bindable": is_bindable(object),
        "instances_retrievable": true,
        "bindings_retrievable": true,
        "metadata": Map::from_iter(metadata),
        "plans": [{
            "id": plan_id(id),
            "name": PLAN,
            "description": "Default plan",
            "free": true,
            "metadata": {"schemas": {"service_instance": {"create": form}}},
            "schemas": schemas,
        }],
    })
}

fn service(
    id: String,
    object: &Object,
    create: &Value,
    document: &Document<'_>,
    root: &Node<'_>,
) -> Service {
    let read = |schema: &Value| {
        let read = Schema::read(schema);
        read.map_err(|reason| root.fault("parameters", reason)).ok()
    };
    let is_bindable = is_bindable(object);
    let plan = Plan {
        id: plan_id(&id),
        updateable: false,
        rotatable: false,
        maintenance_version: None,
        schemas: Schemas {
            create: read(create),
            update: None,
            bind: is_bindable.then(|| read(&bind_schema())).flatten(),
        },
        template: template(document, root),
        parameter_map: Default::default(),
        namespace: None,
        is_async: true,
        replaces_parameters: false,
        expands_first: true,
        bind: is_bindable.then_some(Bind {
            gives: Gives::Exposed,
            is_async: false,
            requires_app: false,
        }),
        interoperator: None,
    };
    Service {
        id,
        plans: vec![plan],
        requires: Vec::new(),
        instances_retrievable: true,
        bindings_retrievable: true,
        allow_context_updates: false,
    }
}

/// The file itself is the only import.
fn template(document: &Document<'_>, root: &Node<'_>) -> Template {
    let name = document.file_name();
    let type_name = TypeName::parse(name.clone()).unwrap_or_else(|error| {
        root.fault("metadata", error.to_string());
        Template::placeholder()
    });
    Template {
        type_name,
        properties: Map::new(),
        imports: vec![Import {
            name,
            path: None,
            content: document.value.to_string(),
        }],
    }
}
