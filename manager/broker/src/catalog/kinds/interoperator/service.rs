//! Checks the specification of an SFService.

use common::node::Node;

use super::super::Taken;
use crate::catalog::Service;

/// The service without its plans.
pub fn read(spec: &Node<'_>, taken: &mut Taken) -> Service {
    let id = taken.id(spec);
    taken.name(spec);
    spec.required("description");
    if spec.flag("bindable").is_none() && spec.value("bindable").is_none() {
        spec.fault("bindable", "bindable is missing");
    }
    spec.flag("planUpdatable");
    spec.texts("tags");
    if let Some(client) = spec.object("dashboardClient") {
        client.required("id");
        client.required("secret");
    }
    Service {
        id,
        plans: Vec::new(),
        requires: spec.texts("requires"),
        instances_retrievable: spec.flag("instancesRetrievable").unwrap_or_default(),
        bindings_retrievable: spec.flag("bindingsRetrievable").unwrap_or_default(),
        allow_context_updates: spec.flag("allowContextUpdates").unwrap_or_default(),
    }
}
