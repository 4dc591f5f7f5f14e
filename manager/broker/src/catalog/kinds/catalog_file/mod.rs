//! `catalog.yaml`: services in OSB's own words, and for each plan the type that it stands for.

mod plan;
mod service;

use serde_json::Value;

use super::{Document, Gathered};
use crate::catalog::files::Files;

/// Objects of Kubernetes have a kind. A catalog has none.
pub fn recognises(document: &Value) -> bool {
    document.get("kind").is_none()
}

/// Reads the services of a catalog.
pub fn read(document: &Document<'_>, gathered: &mut Gathered) {
    let Some(root) = document.root() else { return };
    let Some(entries) = root.objects("services") else {
        if root.value("services").is_none() {
            root.fault("services", "services is missing; write services: []");
        }
        return;
    };
    let mut files = Files::new(&document.file.beside, &mut gathered.budget);
    for entry in &entries {
        let service = service::read(entry, &mut files, &mut gathered.taken);
        gathered.services.push(service);
    }
    gathered.listed.extend(shown(document.value));
    gathered.files.extend(files.places);
}

/// What platforms see of the services.
fn shown(document: &Value) -> Vec<Value> {
    let mut services = document["services"].as_array().cloned().unwrap_or_default();
    let plans = services.iter_mut();
    let plans = plans.filter_map(|service| service.get_mut("plans")?.as_array_mut());
    for plan in plans.flatten().filter_map(Value::as_object_mut) {
        plan.retain(|key, _| !plan::OWN.contains(&key.as_str()));
    }
    services
}
