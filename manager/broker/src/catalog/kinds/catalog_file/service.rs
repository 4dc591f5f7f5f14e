//! Checks a service of the catalog.

use common::node::Node;

use super::super::Taken;
use super::plan::{self, Inherited};
use crate::catalog::files::Files;
use crate::catalog::{Plan, Service};

/// What a service may require from the platform.
const PERMISSIONS: [&str; 3] = ["syslog_drain", "route_forwarding", "volume_mount"];

/// Reads a service, and notes every fault of it and of its plans.
pub fn read(entry: &Node<'_>, files: &mut Files<'_>, taken: &mut Taken) -> Service {
    let id = taken.id(entry);
    taken.name(entry);
    entry.required("description");
    let bindable = entry.flag("bindable");
    if entry.value("bindable").is_none() {
        entry.fault("bindable", "bindable is missing");
    }
    let requires = entry.texts("requires");
    for unknown in requires
        .iter()
        .filter(|one| !PERMISSIONS.contains(&one.as_str()))
    {
        let known = PERMISSIONS.join(", ");
        entry.fault("requires", format!("{unknown:?} is none of {known}"));
    }
    dashboard_client(entry);
    let bindings_retrievable = entry.flag("bindings_retrievable").unwrap_or_default();
    let inherited = Inherited {
        bindable: bindable.unwrap_or_default(),
        updateable: entry.flag("plan_updateable").unwrap_or_default(),
        rotatable: entry.flag("binding_rotatable").unwrap_or_default(),
        bindings_retrievable,
    };
    Service {
        id,
        plans: plans(entry, &inherited, files, taken),
        requires,
        instances_retrievable: entry.flag("instances_retrievable").unwrap_or_default(),
        bindings_retrievable,
        allow_context_updates: entry.flag("allow_context_updates").unwrap_or_default(),
    }
}

fn plans(
    entry: &Node<'_>,
    inherited: &Inherited,
    files: &mut Files<'_>,
    taken: &mut Taken,
) -> Vec<Plan> {
    let entries = entry.objects("plans").unwrap_or_default();
    let is_list = entry.value("plans").is_none_or(serde_json::Value::is_array);
    if entries.is_empty() && is_list {
        entry.fault("plans", "a service has at least one plan");
    }
    let mut names = std::collections::BTreeSet::new();
    let plans = entries.iter().map(|entry| {
        let name = entry.required("name");
        if !name.is_empty() && !names.insert(name) {
            entry.fault("name", "another plan of the service has this name");
        }
        plan::read(entry, inherited, files, taken)
    });
    plans.collect()
}

fn dashboard_client(entry: &Node<'_>) {
    if let Some(client) = entry.object("dashboard_client") {
        for key in ["id", "secret", "redirect_uri"] {
            client.required(key);
        }
    }
}
