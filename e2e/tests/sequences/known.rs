//! What a sequence knows beside what it sees: what was asked for, and what others did.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use crate::model::{Configuration, ObjectId, Options};

/// A write that was accepted.
#[derive(Debug, Clone)]
pub struct Asked {
    pub options: Options,
    /// Absent for a rollback, a commit, a delete.
    pub configuration: Option<Configuration>,
}

/// An object that somebody else made, as nobody's.
#[derive(Debug, Clone)]
pub struct Foreign {
    pub object: ObjectId,
    pub uid: String,
    pub value: u32,
    /// The deployment whose label it carries.
    pub label: Option<String>,
    pub made: Timestamp,
}

#[derive(Debug, Default)]
pub struct Known {
    /// By the operation's id.
    pub asked: BTreeMap<String, Asked>,
    /// When others last changed an object in a way that its deployment does not know.
    pub disturbed: BTreeMap<ObjectId, Timestamp>,
    pub foreign: Vec<Foreign>,
    /// Manifests as they were first seen, by deployment and name.
    pub manifests: BTreeMap<(String, String), Value>,
    /// The operations whose events were read to their end.
    pub followed: BTreeSet<String>,
    /// All objects that any configuration had.
    pub objects: BTreeSet<ObjectId>,
    /// Objects that some write wanted to leave in the cluster.
    pub abandoned: BTreeSet<ObjectId>,
}

impl Known {
    /// A configuration is about to be sent with these options.
    pub fn ask(&mut self, configuration: Option<&Configuration>, options: &Options) {
        let items = configuration.map(|asked| asked.items.as_slice());
        for item in items.unwrap_or_default() {
            self.objects.insert(item.object);
            if item.policies.delete == Some("ABANDON") {
                self.abandoned.insert(item.object);
            }
        }
        if options.policies.delete == Some("ABANDON") {
            self.abandoned.extend(self.objects.iter().copied());
        }
    }

    pub fn disturb(&mut self, object: ObjectId) {
        self.disturbed.insert(object, Timestamp::now());
    }
}
