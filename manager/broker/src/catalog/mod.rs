//! The services and plans that the broker offers, read from their sources and checked as a whole.
//!
//! It knows what a platform sees of a plan, and which type a plan stands for. It refuses to know instances.

mod budget;
mod content;
mod files;
mod kinds;
mod read;
mod schema;
pub mod source;
mod watched;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use common::canonical;
use common::model::{Import, Namespace, TypeName};
use common::node::Node;
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
    /// Whether the parameters of an update take the place of all earlier ones. Otherwise they are merged over them.
    pub replaces_parameters: bool,
    /// Whether a create is answered after its configuration is expanded: a fault of it is a fault of the request, and the
    /// answer has the URL of the dashboard.
    pub expands_first: bool,
    /// Absent if its instances cannot be bound.
    pub bind: Option<Bind>,
    /// Only of a plan of the Inter-operator.
    pub interoperator: Option<Interoperator>,
}

/// What only plans of the Inter-operator have.
#[derive(Debug)]
pub struct Interoperator {
    /// The name of its file in errors.
    pub path: String,
    /// The plans whose instances may get this one.
    pub predecessors: Vec<String>,
    /// Whether an unbind edits objects before the binding is deleted.
    pub has_unbind: bool,
    pub has_selector: bool,
    /// Whether it takes no new instances.
    pub is_deprecated: bool,
    /// What an instance needs of its cluster, such as `cpu` and `memory`.
    pub requests: Option<Map<String, Value>>,
}

#[derive(Debug)]
pub struct Bind {
    pub gives: Gives,
    pub is_async: bool,
    pub requires_app: bool,
}

/// Where the credentials of a binding come from.
#[derive(Debug)]
pub enum Gives {
    /// From the outputs of a deployment of its own.
    Outputs(Template),
    /// From what the objects of the instance expose. Nothing is deployed.
    Exposed,
}

/// A type with its properties and its files.
#[derive(Debug)]
pub struct Template {
    pub type_name: TypeName,
    pub properties: Map<String, Value>,
    pub imports: Vec<Import>,
}

impl Template {
    /// The type of a plan with a fault, which nobody uses.
    #[expect(clippy::unwrap_used, reason = "a constant")]
    fn placeholder() -> TypeName {
        TypeName::parse("none").unwrap()
    }
}

/// The schemas of parameters.
#[derive(Debug, Default)]
pub struct Schemas {
    pub create: Option<Schema>,
    pub update: Option<Schema>,
    pub bind: Option<Schema>,
}

impl Schemas {
    /// Those of a plan, as OSB names them. A schema that `read` refuses is a fault.
    fn of(plan: &Node<'_>, read: fn(&Value) -> Result<Schema, String>) -> Self {
        let schema = |object: &str, action: &str| {
            let parameters = plan.object("schemas")?.object(object)?.object(action)?;
            let value = parameters.value("parameters")?;
            read(value)
                .map_err(|reason| parameters.fault("parameters", reason))
                .ok()
        };
        Self {
            create: schema("service_instance", "create"),
            update: schema("service_instance", "update"),
            bind: schema("service_binding", "create"),
        }
    }
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

    /// The file of a plan of the Inter-operator, as a type of any configuration.
    pub fn files(&self, plan: &str) -> Option<&[Import]> {
        let mut plans = self.services.iter().flat_map(|service| &service.plans);
        let found = plans.find(|one| one.id == plan && one.interoperator.is_some())?;
        Some(&found.template.imports)
    }

    /// What instances of plans of the Inter-operator need of their clusters, by the ids of the plans.
    pub fn requests(&self) -> BTreeMap<String, Map<String, Value>> {
        let plans = self.services.iter().flat_map(|service| &service.plans);
        let requests = |plan: &Plan| {
            let requests = plan.interoperator.as_ref()?.requests.clone()?;
            Some((plan.id.clone(), requests))
        };
        plans.filter_map(requests).collect()
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
