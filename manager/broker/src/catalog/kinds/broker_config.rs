//! `kind: ServiceBrokerConfig`: its plans are types of the same file, `FILE#SERVICE/PLAN`.
//!
//! What the configuration means, `expandybird-brokerconfig` knows. Here its services become those of the catalog.

use common::manifests::is_broker_config_document;
use common::model::{Import, TypeName};
use common::node::Node;
use expandybird_brokerconfig::{self as config, Config};
use serde_json::{Map, Value};

use super::{Document, Gathered, Taken};
use crate::catalog::{Bind, Gives, Plan, Schema, Schemas, Service, Template};

/// Distinguishes such a configuration from others.
pub fn recognises(document: &Value) -> bool {
    is_broker_config_document(document)
}

/// Reads the whole configuration, and its services.
pub fn read(document: &Document<'_>, gathered: &mut Gathered) {
    let Some(config) = Config::read(document.value, document.faults) else {
        return;
    };
    for warning in &config.warnings {
        let (file, place) = (document.file.path.display(), &warning.pointer);
        let message = &warning.message;
        tracing::warn!("{file}: {place}: {message}");
    }
    // Each plan has the whole file, and so has its binding.
    let plans: usize = config.services.iter().map(|one| one.plans.len()).sum();
    if let Err(reason) = gathered.budget.spend(2 * plans * document.file.text.len()) {
        return document
            .root()
            .into_iter()
            .for_each(|root| root.fault("spec", &reason));
    }
    for service in &config.services {
        let mut listed = service.listed.clone();
        let plans = service.plans.iter().map(|one| one.listed.clone().into());
        listed.insert("plans".to_owned(), Value::Array(plans.collect()));
        gathered.listed.push(Value::Object(listed));
        let service = read_service(document, service, &mut gathered.taken);
        gathered.services.push(service);
    }
}

fn read_service(document: &Document<'_>, service: &config::Service, taken: &mut Taken) -> Service {
    if let Some(node) = node(document, &service.pointer) {
        taken.id(&node);
        taken.name(&node);
    }
    let plans = service.plans.iter();
    let plans = plans.map(|plan| read_plan(document, service, plan, taken));
    Service {
        id: service.id.clone(),
        plans: plans.collect(),
        requires: service.requires.clone(),
        instances_retrievable: true,
        bindings_retrievable: true,
        allow_context_updates: false,
    }
}

/// The object at a place of the document.
fn node<'a>(document: &Document<'a>, pointer: &str) -> Option<Node<'a>> {
    let value = document.value.pointer(pointer)?;
    Node::new(pointer.to_owned(), value, document.faults)
}

fn read_plan(
    document: &Document<'_>,
    service: &config::Service,
    plan: &config::Plan,
    taken: &mut Taken,
) -> Plan {
    if let Some(node) = node(document, &plan.pointer) {
        taken.id(&node);
    }
    let file = document.file_name();
    let type_name = format!("{file}#{}/{}", service.name, plan.name);
    let bind = plan.is_bindable.then(|| Bind {
        gives: Gives::Outputs(template(document, format!("{type_name}#binding"))),
        is_async: false,
        requires_app: false,
    });
    Plan {
        id: plan.id.clone(),
        updateable: plan.is_updatable,
        rotatable: false,
        maintenance_version: plan.maintenance_version.clone(),
        schemas: schemas(document, plan),
        template: template(document, type_name),
        parameter_map: std::collections::BTreeMap::new(),
        namespace: None,
        is_async: true,
        replaces_parameters: true,
        expands_first: true,
        interoperator: None,
        bind,
    }
}

/// The file itself is the only import.
fn template(document: &Document<'_>, name: String) -> Template {
    let (file, _) = name.split_once('#').unwrap_or((&name, ""));
    let import = Import {
        name: file.to_owned(),
        path: None,
        content: document.file.text.clone(),
    };
    Template {
        type_name: TypeName::parse(name).unwrap_or_else(|_| Template::placeholder()),
        properties: Map::new(),
        imports: vec![import],
    }
}

fn schemas(document: &Document<'_>, plan: &config::Plan) -> Schemas {
    let read = |schema: &Option<Value>, object: &str, action: &str| {
        let read = Schema::read(schema.as_ref()?);
        let place = format!("{}/schemas/{object}/{action}", plan.pointer);
        match (read, node(document, &place)) {
            (Ok(schema), _) => Some(schema),
            (Err(reason), Some(node)) => {
                node.fault("parameters", reason);
                None
            }
            (Err(_), None) => None,
        }
    };
    Schemas {
        create: read(&plan.schemas.create, "serviceInstance", "create"),
        update: read(&plan.schemas.update, "serviceInstance", "update"),
        bind: read(&plan.schemas.bind, "serviceBinding", "create"),
    }
}
