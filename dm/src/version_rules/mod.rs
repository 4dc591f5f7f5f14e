//! What a template's new version may change, by the part of its number that is higher.
//!
//! The seed's rules ("Template Versions"), which are those of Semantic Versioning: a PATCH neither adds nor changes
//! properties or outputs, a MINOR may add but not break, a MAJOR may do anything. Pure: refuses to know where a schema
//! comes from. Prose (titles, descriptions) is free to change. What a file that the schema refers to says is not compared.

mod changes;
mod constraints;

use std::collections::BTreeSet;

use common::model::Version;
use serde_json::Value;

use changes::{Change, changes};

/// How far one version is from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Patch,
    Minor,
    Major,
}

impl Step {
    pub fn between(before: Version, after: Version) -> Self {
        if before.major != after.major {
            Self::Major
        } else if before.minor != after.minor {
            Self::Minor
        } else {
            Self::Patch
        }
    }

    fn forbids(self, change: &Change) -> Option<&'static str> {
        match self {
            Self::Patch => Some("a PATCH may not add or change properties or outputs"),
            Self::Minor if change.breaks => Some("a MINOR may not break what was written for it"),
            Self::Minor | Self::Major => None,
        }
    }
}

/// What a version promises to those who use it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Promise<'a> {
    /// Its schema as it is written; a template without one takes everything.
    pub schema: Option<&'a Value>,
    /// The names of its outputs, where they are known: only then they are compared.
    pub outputs: Option<&'a BTreeSet<String>>,
}

/// What the step does not allow, a sentence each with the property's path; nothing, if it may be.
pub fn violations(step: Step, before: Promise<'_>, after: Promise<'_>) -> Vec<String> {
    let nothing = Value::Null;
    let mut found = changes(
        before.schema.unwrap_or(&nothing),
        after.schema.unwrap_or(&nothing),
    );
    if let (Some(before), Some(after)) = (before.outputs, after.outputs) {
        found.extend(outputs(before, after));
    }
    let sentence = |change: &Change| {
        let rule = step.forbids(change)?;
        Some(format!("{} {}: {rule}", change.subject, change.what))
    };
    found.iter().filter_map(sentence).collect()
}

fn outputs(before: &BTreeSet<String>, after: &BTreeSet<String>) -> Vec<Change> {
    let change = |name: &String, what: &str, breaks| Change {
        subject: format!("output {name}"),
        what: what.to_owned(),
        breaks,
    };
    let gone = before.difference(after);
    let new = after.difference(before);
    gone.map(|name| change(name, "is gone", true))
        .chain(new.map(|name| change(name, "is new", false)))
        .collect()
}

#[cfg(test)]
mod tests;
