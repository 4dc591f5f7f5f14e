//! Live objects for readers.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Namespace, ObjectRef};
use common::redact::REDACTED;
use serde_json::{Value, json};

use super::{Deployer, LOOK};
use crate::apply;
use crate::kubectl::{self, Query, ServedKind};
use crate::plan::{ACQUIRED, LAST_APPLIED, Wanted};

impl Deployer {
    /// Live objects of a type, or one of them, without the values of Secrets.
    pub async fn read(
        &self,
        type_name: &str,
        name: Option<&str>,
        namespace: Option<&Namespace>,
    ) -> Result<Value, ErrorBody> {
        let kubectl = self.kubectl(None)?;
        let wanted = Wanted::parse(type_name);
        let catalog = self
            .discovery
            .catalog(std::slice::from_ref(&wanted))
            .await?;
        let kind = catalog
            .find(&wanted)
            .map_err(|error| ErrorBody::new(ErrorCode::UnknownType, error.to_string()))?;
        check(kind, name, namespace)?;
        let namespace = namespace.map(Namespace::as_str);
        let found = match name {
            Some(name) => kubectl.get(&object(kind, namespace, name), LOOK).await?,
            None => {
                let query = Query {
                    kind,
                    namespace,
                    selector: None,
                    metadata_only: false,
                };
                let items = apply::all(&*kubectl, query, LOOK).await?;
                Some(json!({"apiVersion": "v1", "kind": "List", "items": items}))
            }
        };
        let missing = || {
            ErrorBody::new(
                ErrorCode::NotFound,
                format!(
                    "the cluster has no {} {}",
                    kind.kind,
                    name.unwrap_or_default()
                ),
            )
        };
        found.map(without_secrets).ok_or_else(missing)
    }
}

/// Whether one object, or all, can be meant.
pub(super) fn check(
    kind: &ServedKind,
    name: Option<&str>,
    namespace: Option<&Namespace>,
) -> Result<(), ErrorBody> {
    let invalid = |message| Err(ErrorBody::new(ErrorCode::InvalidRequest, message));
    match name {
        Some(name) if !kubectl::is_segment(name) => {
            invalid(format!("{name:?} is not the name of an object"))
        }
        Some(_) if kind.namespaced && namespace.is_none() => invalid(format!(
            "{} objects belong to a namespace: add ?namespace=NAME",
            kind.kind
        )),
        _ => Ok(()),
    }
}

pub(super) fn object(kind: &ServedKind, namespace: Option<&str>, name: &str) -> ObjectRef {
    ObjectRef {
        api_version: kind.api_version.clone(),
        kind: kind.kind.clone(),
        namespace: namespace.filter(|_| kind.namespaced).map(str::to_owned),
        name: name.to_owned(),
    }
}

pub(super) fn without_secrets(mut found: Value) -> Value {
    let redact = |object: &mut Value| {
        for field in ["data", "stringData"] {
            let values = object.get_mut(field).and_then(Value::as_object_mut);
            values
                .into_iter()
                .flat_map(|map| map.values_mut())
                .for_each(|value| *value = json!(REDACTED));
        }
        // One annotation is kubectl's copy of the whole Secret. The other is our record of what was taken from it.
        for key in [LAST_APPLIED, ACQUIRED] {
            let annotations = object.pointer_mut("/metadata/annotations");
            let kept = annotations.and_then(|all| all.get_mut(key));
            kept.into_iter().for_each(|value| *value = json!(REDACTED));
        }
    };
    if found["kind"] == "Secret" {
        redact(&mut found);
    }
    let items = found.get_mut("items").and_then(Value::as_array_mut);
    items
        .into_iter()
        .flatten()
        .filter(|item| item["kind"] == "Secret")
        .for_each(redact);
    found
}
