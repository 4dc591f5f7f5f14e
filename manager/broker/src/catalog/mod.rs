//! The services and plans that the broker offers, read from files and checked as a whole.
//!
//! It knows what a platform sees of a plan, and which type a plan stands for. It refuses to know instances.

mod content;
mod entry;
mod files;
mod plan;
mod read;
mod schema;
mod service;
mod watched;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use common::canonical;
use common::model::{Import, Namespace, TypeName};
use serde_json::{Map, Value};

pub use content::{merged, patch};
pub use schema::Schema;
pub use watched::Catalogs;

/// The whole catalog.
#[derive(Debug)]
pub struct Catalog {
    services: Vec<Service>,
    /// The answer of `GET /v2/catalog`.
    pub answer: String,
    /// Its entity tag.
    pub tag: String,
}

#[derive(Debug)]
pub struct Service {
    pub id: String,
    pub plans: Vec<Plan>,
    /// Permissions that the service needs from the platform, such as `syslog_drain`.
    pub requires: Vec<String>,
    pub instances_retrievable: bool,
    pub bindings_retrievable: bool,
    pub allow_context_updates: bool,
}

#[derive(Debug)]
pub struct Plan {
    pub id: String,
    pub updateable: bool,
    pub rotatable: bool,
    pub maintenance_version: Option<String>,
    pub schemas: Schemas,
    /// The type that an instance is made of, with the properties that the plan sets.
    pub template: Template,
    /// The property that a parameter sets, as a dotted path. All others set the property of their name.
    pub parameter_map: BTreeMap<String, String>,
    /// Where its instances are deployed, whatever the platform's context says.
    pub namespace: Option<Namespace>,
    /// Whether its operations are asynchronous only.
    pub is_async: bool,
    /// Absent if its instances cannot be bound.
    pub bind: Option<Bind>,
}

#[derive(Debug)]
pub struct Bind {
    pub template: Template,
    pub is_async: bool,
    pub requires_app: bool,
}

/// A type with its properties and its files.
#[derive(Debug)]
pub struct Template {
    pub type_name: TypeName,
    pub properties: Map<String, Value>,
    pub imports: Vec<Import>,
}

/// The schemas of parameters.
#[derive(Debug, Default)]
pub struct Schemas {
    pub create: Option<Schema>,
    pub update: Option<Schema>,
    pub bind: Option<Schema>,
}

impl Catalog {
    fn new(services: Vec<Service>, listed: Vec<Value>) -> Self {
        let mut answer = Map::new();
        answer.insert("services".to_owned(), Value::Array(listed));
        let answer = Value::Object(answer);
        Self {
            services,
            tag: format!("\"{}\"", canonical::digest(&answer)),
            answer: answer.to_string(),
        }
    }

    /// A plan with its service.
    pub fn plan(&self, service: &str, plan: &str) -> Option<(&Service, &Plan)> {
        let service = self.service(service)?;
        let plan = service.plans.iter().find(|one| one.id == plan)?;
        Some((service, plan))
    }

    pub fn service(&self, id: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.id == id)
    }

    /// Whether every plan is asynchronous only.
    pub fn is_async(&self) -> bool {
        let mut plans = self.services.iter().flat_map(|service| &service.plans);
        !self.services.is_empty() && plans.all(|plan| plan.is_async)
    }
}
