//! The parameters of a write beside its body, and which of them each kind of write accepts.

use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::manager::WriteQuery;
use common::model::limits::OPERATION_MS;
use common::model::{ClusterName, Deployment, OperationId};
use serde::Serialize;
use serde_json::{Value, json};

use crate::auth::Caller;
use crate::domain::operation::intent::Options;
use crate::error::Error;
use crate::store::Changes;

/// The maximum length of an idempotency key. A UUID has 36 characters, and some callers add a prefix.
const KEY_CHARS: usize = 255;

/// The rule of idempotency keys as a JSON schema. Quotation marks around a key do not belong to it.
pub fn key_schema() -> Value {
    json!({"type": "string", "pattern": format!("^[!#-~]{{1,{KEY_CHARS}}}$")})
}

#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub query: WriteQuery,
    pub precondition: Precondition,
    /// Requests with the same key are the same request (`Idempotency-Key`).
    pub idempotency_key: Option<String>,
    /// The caller.
    pub caller: Caller,
    /// What is committed together with the acceptance.
    pub joined: Option<Joined>,
    /// Whether the service broker asks, which knows what it changes.
    pub by_broker: bool,
    /// The cluster that the deployment must be on.
    pub cluster: Option<ClusterName>,
}

/// Changes that belong to a write, and the id of its operation, which they name.
#[derive(Debug, Clone)]
pub struct Joined {
    pub operation: OperationId,
    pub changes: Changes,
}

/// The precondition on the deployment (`If-Match`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub enum Precondition {
    #[default]
    None,
    /// Any of these fingerprints.
    OneOf(Vec<String>),
}

/// The kinds of writes, by the parameters that they accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Create,
    Update,
    Commit,
    Rollback,
    Upgrade,
    Delete,
    Test,
    /// A request that starts no operation of its own.
    Other,
}

impl From<&WriteQuery> for Asked {
    fn from(query: &WriteQuery) -> Self {
        Self {
            query: query.clone(),
            ..Self::default()
        }
    }
}

impl Precondition {
    pub fn check(&self, deployment: &Deployment) -> Result<(), Error> {
        let Precondition::OneOf(fingerprints) = self else {
            return Ok(());
        };
        if fingerprints.contains(&deployment.fingerprint) {
            return Ok(());
        }
        let message = format!(
            "deployment '{}' has changed since it was read; read it again, then repeat the change",
            deployment.name
        );
        Err(Error::new(ErrorCode::PreconditionFailed, message))
    }
}

impl Asked {
    /// Refuses parameters that the write cannot honour. Ignoring one would change the cluster in a way that nobody
    /// asked for.
    pub fn check(&self, kind: Kind) -> Result<(), Error> {
        if let Some(key) = &self.idempotency_key {
            check_key(key)?;
        }
        let Some(parameter) = self.unfit(kind) else {
            return Ok(());
        };
        let message = format!("{parameter} is nothing that {} can have", kind.name());
        Err(Error::new(ErrorCode::InvalidRequest, message))
    }

    pub fn timeout(&self, default: Duration) -> Result<Duration, Error> {
        timeout(self.query.timeout_ms, default)
    }

    pub fn options(&self) -> Options {
        Options {
            policies: (&self.query.policies).into(),
            allow_deletes: self.query.allow_deletes,
            rollback_on_failure: self.query.rollback_on_failure,
            locked: self.query.locked,
            create_namespace: self.query.create_namespace,
            skip_preflight: self.query.preflight == Some(false),
            without_hooks: self.query.hooks == Some(false),
            predecessor: self.query.predecessor,
        }
    }

    fn unfit(&self, kind: Kind) -> Option<&'static str> {
        let is_set = |wish: &&Wish| (wish.is_set)(&self.query);
        let is_unfit = |wish: &&Wish| {
            let is_of_preview = self.query.preview && NOT_OF_PREVIEWS.contains(&wish.parameter);
            is_of_preview || !wish.kinds.contains(&kind)
        };
        let mut set = WISHES.iter().filter(is_set);
        set.find(is_unfit).map(|wish| wish.parameter)
    }
}

/// A parameter, and the writes that accept it.
struct Wish {
    parameter: &'static str,
    is_set: fn(&WriteQuery) -> bool,
    kinds: &'static [Kind],
}

/// What a preview cannot have, because nothing is applied.
const NOT_OF_PREVIEWS: [&str; 2] = ["rollbackOnFailure", "predecessor"];

const APPLIED: &[Kind] = &[Kind::Create, Kind::Update, Kind::Rollback, Kind::Upgrade];

const WISHES: [Wish; 14] = [
    Wish {
        parameter: "preview",
        is_set: |query| query.preview,
        kinds: &[Kind::Create, Kind::Update],
    },
    Wish {
        parameter: "allowDeletes",
        is_set: |query| query.allow_deletes,
        kinds: &[Kind::Update, Kind::Rollback, Kind::Upgrade, Kind::Delete],
    },
    Wish {
        parameter: "rollbackOnFailure",
        is_set: |query| query.rollback_on_failure,
        kinds: &[Kind::Create, Kind::Update, Kind::Commit, Kind::Upgrade],
    },
    Wish {
        parameter: "locked",
        is_set: |query| query.locked,
        kinds: &[Kind::Update],
    },
    Wish {
        parameter: "regenerate",
        is_set: |query| !query.regenerate.is_empty(),
        kinds: &[Kind::Update],
    },
    Wish {
        parameter: "createNamespace",
        is_set: |query| query.create_namespace,
        kinds: &[Kind::Create, Kind::Update, Kind::Commit],
    },
    Wish {
        parameter: "preflight",
        is_set: |query| query.preflight.is_some(),
        kinds: &[
            Kind::Create,
            Kind::Update,
            Kind::Commit,
            Kind::Rollback,
            Kind::Upgrade,
        ],
    },
    Wish {
        parameter: "hooks",
        is_set: |query| query.hooks.is_some(),
        kinds: &[
            Kind::Create,
            Kind::Update,
            Kind::Rollback,
            Kind::Upgrade,
            Kind::Delete,
        ],
    },
    Wish {
        parameter: "predecessor",
        is_set: |query| query.predecessor.is_some(),
        kinds: &[Kind::Create],
    },
    Wish {
        parameter: "createPolicy",
        is_set: |query| query.policies.create_policy.is_some(),
        kinds: APPLIED,
    },
    Wish {
        parameter: "updatePolicy",
        is_set: |query| query.policies.update_policy.is_some(),
        kinds: APPLIED,
    },
    Wish {
        parameter: "conflictPolicy",
        is_set: |query| query.policies.conflict_policy.is_some(),
        kinds: APPLIED,
    },
    Wish {
        parameter: "deletePolicy",
        is_set: |query| query.policies.delete_policy.is_some(),
        kinds: &[
            Kind::Create,
            Kind::Update,
            Kind::Rollback,
            Kind::Upgrade,
            Kind::Delete,
        ],
    },
    Wish {
        parameter: "timeoutMs",
        is_set: |query| query.timeout_ms.is_some(),
        kinds: &[
            Kind::Create,
            Kind::Update,
            Kind::Commit,
            Kind::Rollback,
            Kind::Upgrade,
            Kind::Delete,
            Kind::Test,
        ],
    },
];

impl Kind {
    /// Whether the kind of write accepts a parameter, for the description of the API.
    pub fn takes(self, parameter: &str) -> bool {
        let mut own = WISHES.iter().filter(|wish| wish.kinds.contains(&self));
        own.any(|wish| wish.parameter == parameter)
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Create => "a create",
            Kind::Update => "an update",
            Kind::Commit => "the commit of a preview, which has the policies of the preview,",
            Kind::Rollback => "a rollback",
            Kind::Upgrade => "an upgrade, which keeps all other templates as they are,",
            Kind::Delete => "a delete",
            Kind::Test => "a test, which changes nothing of the deployment,",
            Kind::Other => "this request",
        }
    }
}

/// The timeout of an operation: the requested one, within the limits.
pub fn timeout(asked_ms: Option<u64>, default: Duration) -> Result<Duration, Error> {
    let timeout = asked_ms.map_or(default, Duration::from_millis);
    if timeout.is_zero() || timeout > Duration::from_millis(OPERATION_MS) {
        let message = format!("timeoutMs must be from 1 to {OPERATION_MS}");
        return Err(Error::new(ErrorCode::InvalidRequest, message));
    }
    Ok(timeout)
}

/// # Errors
/// The key is not valid.
pub fn check_key(key: &str) -> Result<(), Error> {
    let fits = (1..=KEY_CHARS).contains(&key.len()) && key.chars().all(|c| c.is_ascii_graphic());
    if fits {
        return Ok(());
    }
    let message = format!(
        "an Idempotency-Key has 1 to {KEY_CHARS} visible ASCII characters; a UUID is a good one"
    );
    Err(Error::new(ErrorCode::InvalidRequest, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 8] = [
        Kind::Create,
        Kind::Update,
        Kind::Commit,
        Kind::Rollback,
        Kind::Upgrade,
        Kind::Delete,
        Kind::Test,
        Kind::Other,
    ];

    #[test]
    fn the_table_of_wishes_and_the_writes_that_fulfil_them() {
        let wishes = [
            json!({"timeoutMs": 1}),
            json!({"preview": true}),
            json!({"allowDeletes": true}),
            json!({"rollbackOnFailure": true}),
            json!({"preview": true, "rollbackOnFailure": true}),
            json!({"locked": true}),
            json!({"regenerate": "$.resources[0].A"}),
            json!({"createNamespace": true}),
            json!({"preflight": false}),
            json!({"hooks": false}),
            json!({"predecessor": "HELM"}),
            json!({"preview": true, "predecessor": "HELM"}),
            json!({"createPolicy": "CREATE"}),
            json!({"updatePolicy": "REPLACE"}),
            json!({"conflictPolicy": "TAKE"}),
            json!({"deletePolicy": "ABANDON"}),
        ];
        let row = |wish: serde_json::Value| {
            let query: WriteQuery = serde_json::from_value(wish.clone()).unwrap();
            let asked = Asked::from(&query);
            let fit = KINDS.iter().filter(|kind| asked.check(**kind).is_ok());
            let fit: String = fit.map(|kind| format!(" {kind:?}")).collect();
            format!("{wish}{fit}")
        };
        insta::assert_snapshot!(wishes.map(row).join("\n"), @r#"
        {"timeoutMs":1} Create Update Commit Rollback Upgrade Delete Test
        {"preview":true} Create Update
        {"allowDeletes":true} Update Rollback Upgrade Delete
        {"rollbackOnFailure":true} Create Update Commit Upgrade
        {"preview":true,"rollbackOnFailure":true}
        {"locked":true} Update
        {"regenerate":"$.resources[0].A"} Update
        {"createNamespace":true} Create Update Commit
        {"preflight":false} Create Update Commit Rollback Upgrade
        {"hooks":false} Create Update Rollback Upgrade Delete
        {"predecessor":"HELM"} Create
        {"preview":true,"predecessor":"HELM"}
        {"createPolicy":"CREATE"} Create Update Rollback Upgrade
        {"updatePolicy":"REPLACE"} Create Update Rollback Upgrade
        {"conflictPolicy":"TAKE"} Create Update Rollback Upgrade
        {"deletePolicy":"ABANDON"} Create Update Rollback Upgrade Delete
        "#);
    }

    #[test]
    fn an_idempotency_key_is_bounded() {
        for (key, fits) in [("a-1", true), ("", false), ("a b", false), ("ä", false)] {
            assert_eq!(check_key(key).is_ok(), fits, "{key}");
        }
        assert!(check_key(&"x".repeat(KEY_CHARS + 1)).is_err());
    }
}
