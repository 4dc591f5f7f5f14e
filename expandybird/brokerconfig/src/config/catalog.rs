//! `catalog`: services and plans, and what platforms see of them in OSB's own words.

use std::collections::BTreeSet;

use common::node::Node;
use serde_json::{Map, Value, json};

/// What a service may require from the platform.
const PERMISSIONS: [&str; 3] = ["syslog_drain", "route_forwarding", "volume_mount"];

/// The version of JSON Schema, if a schema does not say it.
const DRAFT: &str = "http://json-schema.org/draft-04/schema#";

#[derive(Debug)]
pub struct Service {
    pub id: String,
    pub name: String,
    pub requires: Vec<String>,
    pub plans: Vec<Plan>,
    /// What platforms see, without the plans.
    pub listed: Map<String, Value>,
    /// Where it stands in the document.
    pub pointer: String,
}

#[derive(Debug)]
pub struct Plan {
    pub id: String,
    pub name: String,
    pub is_bindable: bool,
    pub is_updatable: bool,
    pub maintenance_version: Option<String>,
    pub schemas: Schemas,
    /// What platforms see.
    pub listed: Map<String, Value>,
    /// Where it stands in the document.
    pub pointer: String,
}

/// JSON schemas of parameters.
#[derive(Debug, Default)]
pub struct Schemas {
    pub create: Option<Value>,
    pub update: Option<Value>,
    pub bind: Option<Value>,
}

pub fn read(catalog: &Node<'_>) -> Vec<Service> {
    let mut names = BTreeSet::new();
    let services = catalog.some_objects("services");
    let services = services.iter().map(|entry| service(entry, &mut names));
    services.collect()
}

fn service(entry: &Node<'_>, names: &mut BTreeSet<String>) -> Service {
    let (id, name) = (entry.required("id"), entry.required("name"));
    if !name.is_empty() && !names.insert(name.clone()) {
        entry.fault("name", "another service has this name");
    }
    let bindable = entry.flag("bindable");
    if entry.value("bindable").is_none() {
        entry.fault("bindable", "bindable is missing");
    }
    let updatable = entry.flag("planUpdatable").unwrap_or_default();
    let requires = entry.texts("requires");
    for (index, unknown) in requires.iter().enumerate() {
        if !PERMISSIONS.contains(&unknown.as_str()) {
            let known = PERMISSIONS.join(", ");
            entry.fault_of_item("requires", index, format!("{unknown:?} is none of {known}"));
        }
    }
    let mut listed = standard_keys(
        entry,
        &["name", "id", "description", "tags", "requires", "metadata"],
    );
    entry.required("description");
    entry.texts("tags");
    entry.object("metadata");
    listed.insert("bindable".to_owned(), json!(bindable.unwrap_or_default()));
    listed.insert("plan_updateable".to_owned(), json!(updatable));
    for retrievable in ["instances_retrievable", "bindings_retrievable"] {
        listed.insert(retrievable.to_owned(), json!(true));
    }
    if let Some(client) = entry.object("dashboardClient") {
        let id = client.required("id");
        let (secret, uri) = (client.required("secret"), client.text("redirectedURI"));
        let client = json!({"id": id, "secret": secret, "redirect_uri": uri.unwrap_or_default()});
        listed.insert("dashboard_client".to_owned(), client);
    }
    Service {
        plans: plans(entry, bindable.unwrap_or_default(), updatable),
        id,
        name,
        requires,
        listed,
        pointer: entry.pointer.clone(),
    }
}

fn plans(entry: &Node<'_>, bindable: bool, updatable: bool) -> Vec<Plan> {
    let mut names = BTreeSet::new();
    let entries = entry.some_objects("plans");
    let plans = entries.iter().map(|entry| {
        let plan = plan(entry, bindable, updatable);
        if !plan.name.is_empty() && !names.insert(plan.name.clone()) {
            entry.fault("name", "another plan of the service has this name");
        }
        plan
    });
    plans.collect()
}

fn plan(entry: &Node<'_>, bindable: bool, updatable: bool) -> Plan {
    let own = entry.flag("bindable");
    let own_updatable = entry.flag("planUpdatable");
    entry.required("description");
    entry.object("metadata");
    let mut listed = standard_keys(entry, &["name", "id", "description", "metadata"]);
    let mut list = |key: &str, value: Option<Value>| {
        value.map(|value| listed.insert(key.to_owned(), value));
    };
    list("free", entry.flag("free").map(Value::from));
    list("bindable", own.map(Value::from));
    list("plan_updateable", own_updatable.map(Value::from));
    let duration = entry.number("maximumPollingDuration");
    list("maximum_polling_duration", duration.map(Value::from));
    let maintenance = entry.object("maintenanceInfo");
    let version = maintenance.as_ref().map(|info| info.required("version"));
    list(
        "maintenance_info",
        maintenance.map(|info| Value::Object(info.map.clone())),
    );
    let schemas = schemas(entry);
    list("schemas", schemas.listed());
    Plan {
        id: entry.required("id"),
        name: entry.required("name"),
        is_bindable: own.unwrap_or(bindable),
        is_updatable: own_updatable.unwrap_or(updatable),
        maintenance_version: version,
        schemas,
        listed,
        pointer: entry.pointer.clone(),
    }
}

/// The keys that OSB calls the same.
fn standard_keys(entry: &Node<'_>, keys: &[&str]) -> Map<String, Value> {
    let entries = keys
        .iter()
        .filter_map(|key| Some(((*key).to_owned(), entry.value(key)?.clone())));
    entries.collect()
}

fn schemas(entry: &Node<'_>) -> Schemas {
    let all = entry.object("schemas");
    let of = |object: &str, action: &str| {
        let parameters = all.as_ref()?.object(object)?.object(action)?;
        let mut schema = parameters.object("parameters")?.map.clone();
        schema.entry("$schema").or_insert_with(|| json!(DRAFT));
        Some(Value::Object(schema))
    };
    Schemas {
        create: of("serviceInstance", "create"),
        update: of("serviceInstance", "update"),
        bind: of("serviceBinding", "create"),
    }
}

impl Schemas {
    /// As platforms see them. Absent if there is none.
    fn listed(&self) -> Option<Value> {
        let mut listed = Map::new();
        let mut add = |object: &str, action: &str, schema: &Option<Value>| {
            if let Some(schema) = schema {
                listed
                    .entry(object)
                    .or_insert_with(|| json!({}))
                    .as_object_mut()
                    .map(|map| map.insert(action.to_owned(), json!({"parameters": schema})));
            }
        };
        add("service_instance", "create", &self.create);
        add("service_instance", "update", &self.update);
        add("service_binding", "create", &self.bind);
        (!listed.is_empty()).then_some(Value::Object(listed))
    }
}
