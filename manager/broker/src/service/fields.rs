//! The fields of request bodies and queries. Fields that nobody knows are ignored.

use common::canonical;
use serde_json::{Map, Value, json};

use super::Context;
use crate::error::BrokerError;

/// The ids that DELETE and GET requests have in their query.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    pub service_id: Option<String>,
    pub plan_id: Option<String>,
}

impl Ids {
    /// Both ids, which must not be empty.
    pub fn both(&self) -> Result<(&str, &str), BrokerError> {
        let required = |id: &Option<String>, name: &str| {
            let present = id.as_deref().is_some_and(|id| !id.is_empty());
            match present {
                true => Ok(()),
                false => Err(missing(name)),
            }
        };
        required(&self.service_id, "service_id")?;
        required(&self.plan_id, "plan_id")?;
        let (service, plan) = (self.service_id.as_deref(), self.plan_id.as_deref());
        Ok((service.unwrap_or_default(), plan.unwrap_or_default()))
    }

    /// Refuses ids that are not those of the record.
    pub fn check(&self, service: &str, plans: &[&str]) -> Result<(), BrokerError> {
        if self.service_id.as_deref().is_some_and(|id| id != service) {
            return Err(other("service_id"));
        }
        match self.plan_id.as_deref() {
            Some(id) if !plans.contains(&id) => Err(other("plan_id")),
            _ => Ok(()),
        }
    }
}

fn missing(name: &str) -> BrokerError {
    BrokerError::invalid(format!("{name} is missing or empty"))
}

fn other(name: &str) -> BrokerError {
    BrokerError::invalid(format!("{name} is not the one that was used to create it"))
}

/// A text that must be present and not empty.
pub fn required(body: &Map<String, Value>, name: &str) -> Result<String, BrokerError> {
    text(body, name)?.ok_or_else(|| missing(name))
}

/// A text that must not be empty if it is present.
pub fn text(body: &Map<String, Value>, name: &str) -> Result<Option<String>, BrokerError> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Err(missing(name)),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(BrokerError::invalid(format!("{name} must be a string"))),
    }
}

/// An object. None if it is absent or null.
pub fn object(
    body: &Map<String, Value>,
    name: &str,
) -> Result<Option<Map<String, Value>>, BrokerError> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map.clone())),
        Some(_) => Err(BrokerError::invalid(format!("{name} must be an object"))),
    }
}

/// `maintenance_info.version`.
pub fn maintenance_version(body: &Map<String, Value>) -> Result<Option<String>, BrokerError> {
    let info = object(body, "maintenance_info")?;
    info.map(|info| required(&info, "version"))
        .transpose()
        .map_err(|error| BrokerError::invalid(format!("maintenance_info: {error}")))
}

/// A digest of what identifies a request: numbers, order and absent values are compared as JSON values.
pub fn digest(parts: &Value) -> String {
    canonical::digest(parts).to_string()
}

/// A digest of a whole body without the fields that nobody knows.
pub fn digest_of(body: &Map<String, Value>, names: &[&str]) -> String {
    let known = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), body.get(*name)?.clone())));
    digest(&json!(known.collect::<Map<_, _>>()))
}

impl Context {
    /// The platform of the originating identity must be that of the context.
    pub fn check_platform(&self, context: &Map<String, Value>) -> Result<(), BrokerError> {
        let (Some((caller, _)), Some(platform)) = (
            &self.caller.originating,
            context.get("platform").and_then(Value::as_str),
        ) else {
            return Ok(());
        };
        match caller == platform {
            true => Ok(()),
            false => Err(BrokerError::invalid(format!(
                "context.platform is {platform:?}, and the originating identity is of {caller:?}"
            ))),
        }
    }
}
