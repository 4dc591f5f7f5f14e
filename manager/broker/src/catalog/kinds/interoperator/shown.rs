//! What platforms see of services and plans: the keys that the protocol has, in its spelling.

use serde_json::{Map, Value, json};

/// Keys of a service: as it writes them, and as the protocol does.
const OF_SERVICE: [(&str, &str); 11] = [
    ("id", "id"),
    ("name", "name"),
    ("description", "description"),
    ("tags", "tags"),
    ("requires", "requires"),
    ("bindable", "bindable"),
    ("metadata", "metadata"),
    ("instancesRetrievable", "instances_retrievable"),
    ("bindingsRetrievable", "bindings_retrievable"),
    ("allowContextUpdates", "allow_context_updates"),
    ("planUpdatable", "plan_updateable"),
];
const OF_PLAN: [(&str, &str); 9] = [
    ("id", "id"),
    ("name", "name"),
    ("description", "description"),
    ("metadata", "metadata"),
    ("free", "free"),
    ("bindable", "bindable"),
    ("planUpdatable", "plan_updateable"),
    ("maintenance_info", "maintenance_info"),
    ("maximum_polling_duration", "maximum_polling_duration"),
];
const DRAFT: &str = "http://json-schema.org/draft-06/schema#";

pub fn service(spec: &Map<String, Value>) -> Value {
    let mut shown = renamed(spec, &OF_SERVICE);
    if let Some(client) = spec.get("dashboardClient").and_then(Value::as_object) {
        let keys = [
            ("id", "id"),
            ("secret", "secret"),
            ("redirectUri", "redirect_uri"),
        ];
        shown["dashboard_client"] = renamed(client, &keys);
    }
    shown
}

pub fn plan(spec: &Map<String, Value>) -> Value {
    let mut shown = renamed(spec, &OF_PLAN);
    if let Some(schemas) = spec.get("schemas").filter(|schemas| schemas.is_object()) {
        let mut schemas = schemas.clone();
        for pointer in [
            "/service_instance/create/parameters",
            "/service_instance/update/parameters",
            "/service_binding/create/parameters",
        ] {
            let schema = schemas.pointer_mut(pointer).and_then(Value::as_object_mut);
            if let Some(schema) = schema {
                // The protocol demands it.
                schema.entry("$schema").or_insert_with(|| json!(DRAFT));
            }
        }
        shown["schemas"] = schemas;
    }
    shown
}

fn renamed(spec: &Map<String, Value>, keys: &[(&str, &str)]) -> Value {
    let stated = keys.iter().filter_map(|(from, to)| {
        let value = spec.get(*from).filter(|value| !value.is_null())?;
        Some(((*to).to_owned(), value.clone()))
    });
    Value::Object(stated.collect())
}
