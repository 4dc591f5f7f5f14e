//! What a plan knows of its instance: by the broker in `env`, else by the resource itself.

use expandybird_sfplan::{BindingFacts, Facts};
use serde_json::{Map, Value};

use super::super::Instance;

/// What the templates are rendered for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Provision,
    Bind,
    Unbind,
}

pub fn kind(instance: &Instance<'_>) -> Kind {
    let has_binding = instance.env.contains_key("binding_id");
    match (has_binding, operation(instance)) {
        (true, "delete") => Kind::Unbind,
        (true, _) => Kind::Bind,
        (false, _) => Kind::Provision,
    }
}

pub fn facts(instance: &Instance<'_>) -> Facts {
    let text = |key: &str| text(instance, key).unwrap_or_default().to_owned();
    let id = self::text(instance, "instance_id");
    let own = match instance.properties {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    let kind = kind(instance);
    let mut spec = map(instance, "instance");
    if kind == Kind::Provision {
        spec.insert("parameters".to_owned(), Value::Object(own.clone()));
    }
    let context = instance.env.get("context").cloned();
    if let (None, Some(context)) = (spec.get("context"), context) {
        spec.insert("context".to_owned(), context);
    }
    Facts {
        // Without a broker, a resource is an instance of its own.
        name: id.is_none().then(|| text("name")),
        namespace: text("namespace"),
        instance_id: id.map_or_else(|| text("name"), str::to_owned),
        service_id: text("service_id"),
        plan_id: text("plan_id"),
        instance: spec,
        state: match operation(instance) {
            "" | "create" => "in_queue".to_owned(),
            other => other.to_owned(),
        },
        binding: (kind != Kind::Provision).then(|| {
            let mut spec = map(instance, "binding");
            spec.insert("parameters".to_owned(), Value::Object(own));
            BindingFacts {
                id: text("binding_id"),
                spec,
            }
        }),
    }
}

/// `create`, `update`, `delete`, or nothing without a broker.
fn operation<'i>(instance: &'i Instance<'_>) -> &'i str {
    text(instance, "operation").unwrap_or_default()
}

fn text<'i>(instance: &'i Instance<'_>, key: &str) -> Option<&'i str> {
    instance.env.get(key)?.as_str()
}

fn map(instance: &Instance<'_>, key: &str) -> Map<String, Value> {
    let value = instance.env.get(key).and_then(Value::as_object);
    value.cloned().unwrap_or_default()
}
