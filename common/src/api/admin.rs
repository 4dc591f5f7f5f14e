//! What operators request from the manager's store: `/admin`.
//!
//! `GET /admin/backup` returns an archive of JSON lines. The first line describes the archive. The last line has the
//! number of entries and the digest of all lines before it. `POST /admin/restore` takes such an archive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The media type of the archive: one JSON document per line.
pub const ARCHIVE: &str = "application/jsonl";

/// The answer of `POST /admin/restore`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// How many entries the store has.
    pub entries: u64,
    /// Operations that were running when the backup was made. They continue now.
    pub resumed: u64,
}

/// The answer of `POST /admin/rotate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Rotated {
    /// The id of the key that now seals all entries.
    pub key: String,
    /// How many entries were sealed with another key before.
    pub entries: u64,
}

/// The answer of `GET` and of `POST /admin/upgrade`: which format the store has, and which it could have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Formats {
    /// The format that is in force: the manager writes no newer one.
    pub in_force: u32,
    /// The newest format that the manager reads and writes.
    pub newest: u32,
    /// The managers that have the store or wait for it. Empty for a store in a folder or in memory.
    pub managers: Vec<RegisteredManager>,
}

/// A manager that has the store or waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredManager {
    /// Its host and process.
    pub name: String,
    /// The version of the program.
    pub version: String,
    /// The newest format that it reads.
    pub reads: u32,
}

/// The answer of `GET /admin/verify`: whether the contents of the store are complete and consistent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// True if no problem was found.
    pub ok: bool,
    /// How many items of each kind were checked: `deployments`, `manifests`, `pieces`, ….
    pub checked: BTreeMap<String, u64>,
    /// The first problems.
    pub problems: Vec<Problem>,
    /// How many more problems there are.
    pub further: u64,
    /// How many entries each key seals, by the id of the key. Empty for a store in memory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, u64>,
}

/// One fault in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    /// The key of the entry in the store, with its parts joined by `/`.
    pub key: String,
    /// A sentence: what is wrong, and what to do.
    pub message: String,
}
