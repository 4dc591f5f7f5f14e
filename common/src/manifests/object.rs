//! One Kubernetes object, and what identifies it.

use serde_json::{Map, Value};

use super::ObjectLocation;

#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    pub kind: String,
    /// The whole object.
    pub value: Value,
    pub place: ObjectLocation,
    pub(super) name: String,
    /// Absent if the object has none.
    pub(super) namespace: Option<String>,
    /// The API group, `""` for the core group.
    pub(super) group: String,
}

impl Object {
    /// Why a value is not an object.
    pub(super) fn new(value: Value, place: ObjectLocation) -> Result<Self, String> {
        let Value::Object(map) = &value else {
            return Err("it is not a map".to_owned());
        };
        let stated = |key: &str| text(map, key).ok_or_else(|| format!("it has no {key}"));
        let (version, kind) = (stated("apiVersion")?, stated("kind")?);
        if !kind.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(format!("its kind {kind:?} has characters that no kind has"));
        }
        let group = group(version)?;
        let metadata = map.get("metadata").and_then(Value::as_object);
        let metadata = |key: &str| metadata.and_then(|metadata| text(metadata, key));
        let name = metadata("name").ok_or_else(|| match metadata("generateName") {
            Some(_) => "it has generateName; write metadata.name, so that it can be found again",
            None => "it has no metadata.name",
        })?;
        let namespace = metadata("namespace");
        for name in [Some(name), namespace].into_iter().flatten() {
            check(name)?;
        }
        Ok(Self {
            kind: kind.to_owned(),
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            group: group.to_owned(),
            place,
            value,
        })
    }

    /// The identity of the object: group, kind, namespace, name. No two objects share it.
    pub fn identity(&self) -> [&str; 4] {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        [&self.group, &self.kind, namespace, &self.name]
    }
}

/// The text of a key, unless it is empty.
fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let text = map.get(key).and_then(Value::as_str);
    text.filter(|text| !text.is_empty())
}

fn group(version: &str) -> Result<&str, String> {
    let parts: Vec<_> = version.split('/').collect();
    match parts[..] {
        [_] => Ok(""),
        [group, _] => Ok(group),
        _ => Err(format!(
            "its apiVersion {version:?} is not written VERSION or GROUP/VERSION"
        )),
    }
}

/// Kubernetes' rule for a segment of a path: the weakest rule for names of any kind.
fn check(name: &str) -> Result<(), String> {
    match name.contains(['/', '%']) || name.chars().any(char::is_control) {
        true => Err(format!(
            "{name:?} cannot be a name; it has a '/', a '%' or a control character"
        )),
        false => Ok(()),
    }
}
