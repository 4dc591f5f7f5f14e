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
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    /// The entry's key in the store, its parts joined by `/`.
    pub key: String,
    /// A sentence: what is wrong, and what to do.
    pub message: String,
}
