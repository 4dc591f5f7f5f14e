//! The objects of an installation, as kubectl reads them.

use common::model::DeploymentName;
use serde_json::Value;

use crate::terminal::format::{self, OutputError};

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
        let name = format!("{installation}-manager");
        let mut rest = self.rest.iter();
        rest.any(|object| {
            object["kind"] == "StatefulSet" && object["metadata"]["name"] == name.as_str()
        })
    }
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
