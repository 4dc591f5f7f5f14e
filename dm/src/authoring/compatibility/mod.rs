//! What a new version of a template may change. It depends on the part of the version number that is higher.
//!
//! The rules are those of Semantic Versioning (see docs/authors/versions.md). A PATCH may not add or change properties or
//! outputs, a MINOR may add but not break, a MAJOR may change anything. Titles and descriptions may always change. Files that
//! a schema refers to are not compared. Pure: refuses to know where schemas and outputs come from.

mod changes;
mod constraints;

use std::collections::BTreeMap;

use common::model::{OutputKind, Version};
use serde_json::Value;

use changes::{SchemaChange, changes};

/// The part of the number in which a version differs from the previous one.
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
            Self::Minor if change.breaks => Some("a MINOR may not break existing configurations"),
            Self::Minor | Self::Major => None,
        }
    }
}

/// The outputs of an instance: names and kinds.
pub type Outputs = BTreeMap<String, OutputKind>;

/// What a version promises to its users.
#[derive(Debug, Clone, Copy, Default)]
pub struct Promise<'a> {
    /// Its schema as written. A template without one takes any properties.
    pub schema: Option<&'a Value>,
    /// Its outputs, if known. Unknown outputs are not compared.
    pub outputs: Option<&'a Outputs>,
}

/// One sentence, with the path of the property, for each change that the step does not allow.
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
            None => found.push(change(name, "is removed".to_owned(), true)),
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

/// The value of a reference is known only after a deploy.
fn is_known(kind: OutputKind) -> bool {
    kind != OutputKind::Reference
}

#[cfg(test)]
mod tests;
