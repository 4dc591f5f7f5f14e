//! Reads `catalog.yaml`: services in OSB's own words, and for each plan the type that it stands for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::yaml::{self, Duplicates, Limits};
use serde_json::Value;

use super::entry::{Entry, Fault, Faults};
use super::files::Files;
use super::{Catalog, Service, service};

/// A file of the catalog.
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

/// What was read, and the files that it depends on beside the sources.
pub struct Reading {
    /// The catalog, or every fault with its place.
    pub catalog: Result<Catalog, Vec<String>>,
    pub files: BTreeSet<PathBuf>,
}

/// Ids and names that are taken, over all files.
#[derive(Default)]
pub struct Taken {
    pub ids: BTreeSet<String>,
    pub names: BTreeSet<String>,
}

/// Reads all files as one catalog.
pub fn read(sources: &[Source]) -> Reading {
    let mut taken = Taken::default();
    let (mut services, mut listed) = (Vec::new(), Vec::new());
    let (mut faults, mut files) = (Vec::new(), BTreeSet::new());
    for source in sources {
        match document(source) {
            Err(fault) => faults.push(fault),
            Ok(document) => {
                let mut beside = Files::new(source.path.parent().unwrap_or(Path::new("")));
                let found = Faults::default();
                let read = of_document(&document, &mut beside, &mut taken, &found);
                services.extend(read);
                listed.extend(shown(document));
                files.extend(beside.read);
                faults.extend(placed(source, found.into_inner()));
            }
        }
    }
    let catalog = match faults.is_empty() {
        true => Ok(Catalog::new(services, listed)),
        false => Err(faults),
    };
    Reading { catalog, files }
}

fn document(source: &Source) -> Result<Value, String> {
    let read = yaml::read(&source.text, &Limits::DEFAULT, Duplicates::Error);
    let document = read.map_err(|error| {
        let file = source.path.display();
        format!("{file}{}: {}", shown_place(error.location), error.kind)
    })?;
    Ok(document.value)
}

fn of_document(
    document: &Value,
    files: &mut Files,
    taken: &mut Taken,
    faults: &Faults,
) -> Vec<Service> {
    let Some(root) = Entry::new(String::new(), document, faults) else {
        return Vec::new();
    };
    let Some(entries) = root.objects("services") else {
        if root.value("services").is_none() {
            root.fault("services", "services is missing; write services: []");
        }
        return Vec::new();
    };
    let services = entries.iter();
    let services = services.map(|entry| service::read(entry, files, taken));
    services.collect()
}

/// What platforms see of the services.
fn shown(mut document: Value) -> Vec<Value> {
    let services = document.get_mut("services").map(Value::take);
    let mut services = match services {
        Some(Value::Array(services)) => services,
        _ => Vec::new(),
    };
    for plan in services
        .iter_mut()
        .filter_map(|one| one.get_mut("plans")?.as_array_mut())
    {
        for plan in plan.iter_mut().filter_map(Value::as_object_mut) {
            plan.retain(|key, _| !super::plan::OWN.contains(&key.as_str()));
        }
    }
    services
}

/// `catalog.yaml:3:5: /services/0/name: name is missing`.
fn placed(source: &Source, faults: Vec<Fault>) -> Vec<String> {
    let locations = yaml::TextLocations::new(&source.text, &Limits::DEFAULT);
    let faults = faults.into_iter().map(|fault| {
        let place = locations.at(&fault.pointer);
        let place = place.map_or_else(String::new, shown_place);
        let (file, Fault { pointer, message }) = (source.path.display(), fault);
        format!("{file}{place}: {pointer}: {message}")
    });
    faults.collect()
}

fn shown_place(place: yaml::Location) -> String {
    format!(":{}:{}", place.line, place.column)
}
