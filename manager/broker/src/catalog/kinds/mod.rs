//! The kinds of documents in the files of `--broker-config`: one table.
//!
//! A new kind is a row of [`TABLE`] and a file beside this one.

pub mod broker_config;
pub mod catalog_file;
pub mod interoperator;
pub mod template;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::node::{Faults, Node};
use serde_json::Value;

use super::Service;
use super::budget::Budget;
use super::source::File;

/// What is known about a kind.
pub struct Row {
    /// What errors call it.
    pub name: &'static str,
    /// Distinguishes its documents from others.
    pub recognises: fn(&Value) -> bool,
    /// Reads a document, and notes every fault of it.
    pub read: fn(&Document<'_>, &mut Gathered),
}

/// If several rows match a document, the first one wins.
pub const TABLE: [Row; 5] = [
    Row {
        name: "a ServiceBrokerConfig",
        recognises: broker_config::recognises,
        read: broker_config::read,
    },
    Row {
        name: "a catalog (services: […])",
        recognises: catalog_file::recognises,
        read: catalog_file::read,
    },
    Row {
        name: "an SFService",
        recognises: interoperator::is_service,
        read: interoperator::read_service,
    },
    Row {
        name: "an SFPlan",
        recognises: interoperator::is_plan,
        read: interoperator::read_plan,
    },
    Row {
        name: "a Template",
        recognises: template::recognises,
        read: template::read,
    },
];

/// The kind of a document. None for objects of Kubernetes that are here beside a configuration, such as its roles.
pub fn of(document: &Value) -> Option<&'static Row> {
    TABLE.iter().find(|row| (row.recognises)(document))
}

/// The names of all kinds.
pub fn names() -> String {
    TABLE.map(|row| row.name).join(", ")
}

/// A document of a file.
pub struct Document<'a> {
    pub file: &'a File,
    pub value: &'a Value,
    pub faults: &'a Faults,
}

impl<'a> Document<'a> {
    /// The document as an object.
    pub fn root(&self) -> Option<Node<'a>> {
        Node::root(self.value, self.faults)
    }

    /// The last part of the file's path.
    pub fn file_name(&self) -> String {
        let path = &self.file.path;
        let name = path.file_name().map_or(path.as_path(), Path::new);
        name.display().to_string()
    }
}

/// What was read from all documents so far.
#[derive(Default)]
pub struct Gathered {
    pub services: Vec<Service>,
    /// What platforms see of the services.
    pub listed: Vec<Value>,
    /// The files on disk that the documents name.
    pub files: BTreeSet<PathBuf>,
    pub taken: Taken,
    /// For the files of plans.
    pub budget: Budget,
    /// Services and plans of the Inter-operator, which come together at the end.
    pub interoperator: interoperator::Parts,
}

/// Ids and names that are taken, over all files.
#[derive(Default)]
pub struct Taken {
    ids: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl Taken {
    /// The id of a service or a plan: unique among all of them.
    pub fn id(&mut self, entry: &Node<'_>) -> String {
        let id = entry.required("id");
        if !id.is_empty() && !self.take_id(&id) {
            entry.fault("id", "another service or plan has this id");
        }
        id
    }

    /// Whether nobody had the id before.
    pub fn take_id(&mut self, id: &str) -> bool {
        self.ids.insert(id.to_owned())
    }

    /// The name of a service: unique among all services.
    pub fn name(&mut self, entry: &Node<'_>) -> String {
        let name = entry.required("name");
        if !name.is_empty() && !self.names.insert(name.clone()) {
            entry.fault("name", "another service has this name");
        }
        name
    }
}
