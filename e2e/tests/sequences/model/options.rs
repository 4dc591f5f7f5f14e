//! What goes with a write beside its configuration.

use serde_json::{Map, Value, json};

/// The policies of a resource or of a whole request, in the words of the API.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policies {
    pub create: Option<&'static str>,
    pub update: Option<&'static str>,
    pub delete: Option<&'static str>,
    pub conflict: Option<&'static str>,
}

impl Policies {
    pub const CREATE: [&'static str; 3] = ["CREATE_OR_ACQUIRE", "CREATE", "ACQUIRE"];
    pub const UPDATE: [&'static str; 2] = ["APPLY", "REPLACE"];
    pub const DELETE: [&'static str; 2] = ["DELETE", "ABANDON"];
    pub const CONFLICT: [&'static str; 3] = ["FAIL", "TAKE", "YIELD"];

    pub fn create(policy: &'static str) -> Self {
        Self {
            create: Some(policy),
            ..Self::default()
        }
    }

    pub fn update(policy: &'static str) -> Self {
        Self {
            update: Some(policy),
            ..Self::default()
        }
    }

    pub fn delete(policy: &'static str) -> Self {
        Self {
            delete: Some(policy),
            ..Self::default()
        }
    }

    pub fn conflict(policy: &'static str) -> Self {
        Self {
            conflict: Some(policy),
            ..Self::default()
        }
    }

    /// Those that are set, by their names on the wire.
    pub fn set(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            ("createPolicy", self.create),
            ("updatePolicy", self.update),
            ("deletePolicy", self.delete),
            ("conflictPolicy", self.conflict),
        ];
        all.into_iter()
            .filter_map(|(name, policy)| Some((name, policy?)))
    }

    /// As in a resource's `metadata`.
    pub fn fields(self) -> Value {
        let fields = self
            .set()
            .map(|(name, policy)| (name.to_owned(), json!(policy)));
        Value::Object(fields.collect::<Map<_, _>>())
    }
}

/// The options of one write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    pub policies: Policies,
    pub timeout_ms: Option<u64>,
    pub allow_deletes: bool,
    pub rollback_on_failure: bool,
    pub fingerprint: Fingerprint,
    /// Whether it carries an `Idempotency-Key`, so that it can be repeated.
    pub keyed: bool,
    /// Whether the answer comes when the operation is done.
    pub synchronous: bool,
    /// Whether the deployment is applied in the name of the sequence's service account, which may lose its rights.
    /// Creations only.
    pub in_account: bool,
}

/// What `If-Match` says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fingerprint {
    #[default]
    None,
    Present,
    Stale,
}
