//! What a template's new version may change, by the part of its number that is higher.
//!
//! The seed's rules ("Template Versions"), which are those of Semantic Versioning: a PATCH neither adds nor changes
//! properties or outputs, a MINOR may add but not break, a MAJOR may do anything. Pure: refuses to know where a schema
//! comes from, and what an instance has for outputs. Prose (titles, descriptions) is free to change. What a file that the schema refers to says is not compared.

mod changes;
mod constraints;

use std::collections::BTreeMap;

use common::model::{OutputKind, Version};
use serde_json::Value;

use changes::{SchemaChange, changes};

/// How far one version is from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionStep {
    Patch,
    Minor,
    Major,
}

impl VersionStep {
    pub fn between(before: Version, after: Version) -> Self {
        if before.major != after.major {
            Self::Major
        } else if before.minor != after.minor {
            Self::Minor
        } else {
            Self::Patch
        }
    }

    fn forbids(self, change: &SchemaChange) -> Option<&'static str> {
        match self {
            Self::Patch => Some("a PATCH may not add or change properties or outputs"),
            Self::Minor if change.breaks => Some("a MINOR may not break what was written for it"),
            Self::Minor | Self::Major => None,
        }
    }
}

/// The outputs of an instance, by name, and of what kind they are.
pub type Outputs = BTreeMap<String, OutputKind>;

/// What a version promises to those who use it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Promise<'a> {
    /// Its schema as it is written; a template without one takes everything.
    pub schema: Option<&'a Value>,
    /// Its outputs, where they are known: only then they are compared.
    pub outputs: Option<&'a Outputs>,
}

/// What the step does not allow, a sentence each with the property's path; nothing, if it may be.
pub fn violations(step: VersionStep, before: Promise<'_>, after: Promise<'_>) -> Vec<String> {
    let nothing = Value::Null;
    let mut found = changes(
        before.schema.unwrap_or(&nothing),
        after.schema.unwrap_or(&nothing),
    );
    if let (Some(before), Some(after)) = (before.outputs, after.outputs) {
        found.extend(outputs(before, after));
    }
    let sentence = |change: &SchemaChange| {
        let rule = step.forbids(change)?;
        Some(format!("{} {}: {rule}", change.subject, change.what))
    };
    found.iter().filter_map(sentence).collect()
}

fn outputs(before: &Outputs, after: &Outputs) -> Vec<SchemaChange> {
    let change = |name: &String, what: String, breaks| SchemaChange {
        subject: format!("output {name}"),
        what,
        breaks,
    };
    let mut found = Vec::new();
    for (name, old) in before {
        match after.get(name) {
            None => found.push(change(name, "is gone".to_owned(), true)),
            Some(new) if old != new && is_known(*old) && is_known(*new) => {
                let what = format!("was a {} and is a {}", old.as_str(), new.as_str());
                found.push(change(name, what, true));
            }
            Some(_) => {}
        }
    }
    let new = after.keys().filter(|name| !before.contains_key(*name));
    found.extend(new.map(|name| change(name, "is new".to_owned(), false)));
    found
}

/// What a reference comes to shows only when it is deployed.
fn is_known(kind: OutputKind) -> bool {
    kind != OutputKind::Reference
}

#[cfg(test)]
mod tests;
