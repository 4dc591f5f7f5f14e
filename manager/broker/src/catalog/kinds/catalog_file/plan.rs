//! Checks a plan of the catalog.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use common::model::{Namespace, TypeName};
use common::node::Node;
use regex::Regex;

use super::super::Taken;
use crate::catalog::files::Files;
use crate::catalog::{Bind, Gives, Plan, Schema, Schemas, Template};

/// The keys of a plan that platforms do not see.
pub const OWN: [&str; 6] = [
    "type",
    "properties",
    "parameterMap",
    "namespace",
    "async",
    "bind",
];

/// Semantic versions 2.0, as semver.org gives the pattern.
#[expect(clippy::unwrap_used, reason = "a constant that every test compiles")]
static SEMVER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)",
        r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?",
        r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$"
    ))
    .unwrap()
});

/// What a plan has from its service unless it says otherwise.
pub struct Inherited {
    pub bindable: bool,
    pub updateable: bool,
    pub rotatable: bool,
    pub bindings_retrievable: bool,
}

pub fn read(
    entry: &Node<'_>,
    inherited: &Inherited,
    files: &mut Files<'_>,
    taken: &mut Taken,
) -> Plan {
    let id = taken.id(entry);
    entry.required("description");
    entry.flag("free");
    polling(entry);
    let bindable = entry.flag("bindable").unwrap_or(inherited.bindable);
    let bind = bind(entry, bindable, inherited, files);
    Plan {
        id,
        updateable: entry
            .flag("plan_updateable")
            .unwrap_or(inherited.updateable),
        rotatable: entry
            .flag("binding_rotatable")
            .unwrap_or(inherited.rotatable),
        maintenance_version: maintenance(entry),
        schemas: Schemas::of(entry, Schema::read),
        template: template(entry, files),
        parameter_map: parameter_map(entry),
        namespace: namespace(entry),
        is_async: entry.flag("async").unwrap_or_default(),
        replaces_parameters: false,
        expands_first: false,
        bind,
        interoperator: None,
    }
}

fn template(entry: &Node<'_>, files: &mut Files<'_>) -> Template {
    let written = entry.required("type");
    let (type_name, imports) = match TypeName::parse(written.clone()) {
        Ok(name) => (name, files.imports(&written)),
        Err(error) => {
            if !written.is_empty() {
                entry.fault("type", error.to_string());
            }
            (Template::placeholder(), Ok(Vec::new()))
        }
    };
    let imports = imports.unwrap_or_else(|reason| {
        entry.fault("type", reason);
        Vec::new()
    });
    let properties = entry.object("properties").map(|entry| entry.map.clone());
    Template {
        type_name,
        properties: properties.unwrap_or_default(),
        imports,
    }
}

fn bind(
    entry: &Node<'_>,
    bindable: bool,
    inherited: &Inherited,
    files: &mut Files<'_>,
) -> Option<Bind> {
    let Some(bind) = entry.object("bind") else {
        if bindable && entry.value("bind").is_none() {
            let message = "the plan is bindable, and has no bind: add bind: {type: TYPE}, or set bindable to false";
            entry.fault("bind", message);
        }
        return None;
    };
    if !bindable {
        entry.fault(
            "bind",
            "the plan is not bindable: remove bind, or set bindable to true",
        );
    }
    let read = Bind {
        gives: Gives::Outputs(template(&bind, files)),
        is_async: bind.flag("async").unwrap_or_default(),
        requires_app: bind.flag("requiresApp").unwrap_or_default(),
    };
    if read.is_async && !inherited.bindings_retrievable {
        let message = "platforms fetch the credentials of an asynchronous binding: set bindings_retrievable of the service to true";
        bind.fault("async", message);
    }
    Some(read)
}

fn parameter_map(entry: &Node<'_>) -> BTreeMap<String, String> {
    let Some(map) = entry.object("parameterMap") else {
        return BTreeMap::new();
    };
    let pairs = map.map.keys().map(|key| (key.clone(), map.required(key)));
    pairs.collect()
}

fn namespace(entry: &Node<'_>) -> Option<Namespace> {
    let parsed = Namespace::parse(entry.text("namespace")?);
    parsed
        .map_err(|error| entry.fault("namespace", error.to_string()))
        .ok()
}

fn polling(entry: &Node<'_>) {
    let seconds = entry.value("maximum_polling_duration");
    if seconds.is_some_and(|seconds| seconds.as_u64().is_none()) {
        entry.fault("maximum_polling_duration", "it must be a number of seconds");
    }
}

fn maintenance(entry: &Node<'_>) -> Option<String> {
    let info = entry.object("maintenance_info")?;
    let version = info.required("version");
    if !version.is_empty() && !SEMVER.is_match(&version) {
        info.fault("version", "it is not a semantic version such as 1.2.3");
    }
    Some(version)
}
