//! What the manager's operators ask of its store: `/admin`.
//!
//! `GET /admin/backup` answers with an archive: lines of JSON, the first of which tells what it is, and the last how
//! many entries there are and the digest of all before it. `POST /admin/restore` takes one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The archive's media type: one JSON document a line.
pub const ARCHIVE: &str = "application/jsonl";

/// What `POST /admin/restore` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// Entries of the store.
    pub entries: u64,
    /// Operations that were running when the backup was made, and go on now.
    pub resumed: u64,
}

/// What `POST /admin/rotate` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rotated {
    /// The id of the key that seals all now.
    pub key: String,
    /// Entries of the store that were sealed with another one.
    pub entries: u64,
}

/// What `GET /admin/verify` answers: whether the store holds what it should, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// No problem was found.
    pub ok: bool,
    /// How many of each kind were looked at: `deployments`, `manifests`, `pieces`, ….
    pub checked: BTreeMap<String, u64>,
    /// The first of them.
    pub problems: Vec<Problem>,
    /// Problems that are not listed.
    pub further: u64,
    /// How many entries each key seals, by the key's id; none of a store in memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, u64>,
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    /// The entry's key in the store, its parts joined by `/`.
    pub key: String,
    /// A sentence: what is wrong, and what to do.
    pub message: String,
}
