//! The objects of an installation, as kubectl reads them.

use common::model::DeploymentName;
use serde_json::Value;

use crate::terminal::format::{self, OutputError};

/// The part of an installation that keeps the state of several managers.
pub const ETCD: &str = "etcd";

/// In the order in which to apply them.
pub struct Objects {
    pub namespace: Value,
    /// New in each call. An existing one in the cluster must stay.
    pub key: Value,
    /// New in each call, of one authority: either all of them replace the existing ones, or none.
    pub certificates: Vec<Value>,
    pub rest: Vec<Value>,
}

impl Objects {
    /// Whether the managers keep their state in etcd.
    pub fn has_several_managers(&self, installation: &DeploymentName) -> bool {
        has_set(&self.rest, installation, "manager")
    }

    /// Whether that etcd is one of the installation's own.
    pub fn has_etcd(&self, installation: &DeploymentName) -> bool {
        has_etcd(&self.rest, installation)
    }
}

/// Whether the objects of an installation have members of etcd among them.
pub fn has_etcd(objects: &[Value], installation: &DeploymentName) -> bool {
    has_set(objects, installation, ETCD)
}

fn has_set(objects: &[Value], installation: &DeploymentName, part: &str) -> bool {
    let name = format!("{installation}-{part}");
    objects.iter().any(|object| {
        object["kind"] == "StatefulSet" && object["metadata"]["name"] == name.as_str()
    })
}

/// As one stream of YAML documents.
pub fn documents<'o>(objects: impl IntoIterator<Item = &'o Value>) -> Result<String, OutputError> {
    let mut text = String::new();
    for object in objects {
        text.push_str("---\n");
        text.push_str(&format::yaml(object)?);
    }
    Ok(text)
}
