//! The registry of an instance or a binding: values by their keys. Some keys belong to the broker.

use std::collections::BTreeMap;

use serde_json::Value;

/// Keys that templates can neither read nor write.
const INTERNAL: [&str; 5] = [
    "context",
    "operation",
    "operation-id",
    "operation-status",
    "parameters",
];
/// Keys that templates can only read.
const GIVEN: [&str; 5] = [
    "binding-id",
    "instance-id",
    "namespace",
    "plan-id",
    "service-id",
];
/// The key of the dashboard's URL.
pub const DASHBOARD: &str = "dashboard-url";
/// The key of a binding's credentials.
pub const CREDENTIALS: &str = "credentials";
/// The longest key: that of an entry of a Secret.
const KEY_CHARS: usize = 253;

#[derive(Debug, Clone, Default)]
pub struct Registry(BTreeMap<String, Value>);

/// A key that belongs to the broker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    #[error("registry key {0} cannot be read")]
    Read(String),
    #[error("registry key {0} cannot be written")]
    Write(String),
    #[error("registry key {0:?} is not valid: use letters, digits, '-', '_' and '.'")]
    Key(String),
}

impl Registry {
    /// What a template reads. Null if there is nothing.
    pub fn read(&self, key: &str) -> Result<&Value, RegistryError> {
        match INTERNAL.contains(&key) {
            true => Err(RegistryError::Read(key.to_owned())),
            false => Ok(self.0.get(key).unwrap_or(&Value::Null)),
        }
    }

    /// Null changes nothing.
    pub fn set(&mut self, key: &str, value: Value) {
        if !value.is_null() {
            self.0.insert(key.to_owned(), value);
        }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }
}

/// Whether a configuration may set this key.
pub fn check_write(key: &str) -> Result<(), RegistryError> {
    let is_character = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let length = key.chars().count();
    if length == 0 || length > KEY_CHARS || !key.chars().all(is_character) {
        return Err(RegistryError::Key(key.to_owned()));
    }
    match INTERNAL.contains(&key) || GIVEN.contains(&key) {
        true => Err(RegistryError::Write(key.to_owned())),
        false => Ok(()),
    }
}
