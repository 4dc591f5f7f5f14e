//! `SFService` and `SFPlan` of the Service Fabrik Inter-operator.
//!
//! A service and its plans may stand in several files, so they come together when all files are read. What a plan's
//! templates mean, expandybird knows.

mod plan;
mod service;
mod shown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use super::{Document, Gathered};
use crate::catalog::{Plan, Service};

const GROUP: &str = "osb.servicefabrik.io/";

/// What was read of services and plans.
#[derive(Default)]
pub struct Parts {
    services: Vec<ServicePart>,
    plans: Vec<PlanPart>,
}

struct ServicePart {
    path: PathBuf,
    service: Service,
    /// What platforms see of it, without its plans.
    shown: Value,
    document: Value,
}

struct PlanPart {
    path: PathBuf,
    name: String,
    service_id: String,
    plan: Plan,
    /// What platforms see of it.
    shown: Value,
    document: Value,
}

pub fn is_service(document: &Value) -> bool {
    is(document, "SFService")
}

pub fn is_plan(document: &Value) -> bool {
    is(document, "SFPlan")
}

fn is(document: &Value, kind: &str) -> bool {
    let version = document["apiVersion"].as_str().unwrap_or_default();
    document["kind"] == kind && version.starts_with(GROUP)
}

pub fn read_service(document: &Document<'_>, gathered: &mut Gathered) {
    let Some(root) = document.root() else { return };
    let Some(spec) = root.required_object("spec") else {
        return;
    };
    let service = service::read(&spec, &mut gathered.taken);
    gathered.interoperator.services.push(ServicePart {
        path: document.file.path.clone(),
        service,
        shown: shown::service(spec.map),
        document: document.value.clone(),
    });
}

pub fn read_plan(document: &Document<'_>, gathered: &mut Gathered) {
    let Some(root) = document.root() else { return };
    let Some(spec) = root.required_object("spec") else {
        return;
    };
    let (plan, files) = plan::read(
        document,
        &root,
        &spec,
        (&mut gathered.taken, &mut gathered.budget),
    );
    gathered.files.extend(files);
    gathered.interoperator.plans.push(PlanPart {
        path: document.file.path.clone(),
        name: spec.text("name").unwrap_or_default(),
        service_id: spec.text("serviceId").unwrap_or_default(),
        plan,
        shown: shown::plan(spec.map),
        document: document.value.clone(),
    });
}

/// Brings services and plans together. Returns the faults that only show then.
pub fn join(gathered: &mut Gathered) -> Vec<String> {
    let Parts { services, plans } = std::mem::take(&mut gathered.interoperator);
    let ids: BTreeSet<&str> = services.iter().map(|one| one.service.id.as_str()).collect();
    let mut faults = Vec::new();
    let mut plans_of: BTreeMap<String, Vec<PlanPart>> = BTreeMap::new();
    for part in plans {
        if !ids.contains(part.service_id.as_str()) && !part.service_id.is_empty() {
            let (file, id) = (part.path.display(), &part.service_id);
            faults.push(format!(
                "{file}: /spec/serviceId: no file has an SFService with the id {id:?}"
            ));
        }
        plans_of
            .entry(part.service_id.clone())
            .or_default()
            .push(part);
    }
    for service in services {
        let own = plans_of.remove(&service.service.id).unwrap_or_default();
        faults.extend(joined(service, own, gathered));
    }
    faults
}

fn joined(mut service: ServicePart, plans: Vec<PlanPart>, gathered: &mut Gathered) -> Vec<String> {
    let file = service.path.display().to_string();
    let mut faults = Vec::new();
    if plans.is_empty() {
        faults.push(format!(
            "{file}: no file has an SFPlan with the serviceId {:?}",
            service.service.id
        ));
    }
    let mut names = BTreeSet::new();
    let mut listed = Vec::new();
    for mut part in plans {
        if !names.insert(part.name.clone()) {
            let (file, name) = (part.path.display(), &part.name);
            faults.push(format!(
                "{file}: /spec/name: another plan of the service has the name {name:?}"
            ));
        }
        let inherited = part
            .plan
            .inherit(&service.document, &part.document, &mut gathered.budget);
        if let Err(reason) = inherited {
            faults.push(format!("{}: {reason}", part.path.display()));
            break;
        }
        listed.push(part.shown);
        service.service.plans.push(part.plan);
    }
    service.shown["plans"] = Value::Array(listed);
    gathered.services.push(service.service);
    gathered.listed.push(service.shown);
    faults
}
