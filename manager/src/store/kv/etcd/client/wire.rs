//! Requests and answers of etcd's JSON gateway: bytes are base64, and 64-bit numbers are text.
//!
//! Fields with their default value are left out by etcd, so every field of an answer has one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::kv::{Entry, Version};

/// Bytes in base64.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(pub Vec<u8>);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD.decode(&*text).map(Self).map_err(D::Error::custom)
    }
}

/// A 64-bit number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number(pub i64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Range {
    pub key: Text,
    /// Exclusive. Without it, the range is the key alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_end: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Number>,
    /// As it was then; without it, as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Number>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keys_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort_order: Option<&'static str>,
}

#[derive(Debug, Clone, Serialize)]
pub struct Compare {
    pub key: Text,
    #[serde(flatten)]
    pub target: Target,
}

/// What of a key must be equal. A key that does not exist has 0.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "target")]
pub enum Target {
    #[serde(rename = "CREATE")]
    Created { create_revision: Number },
    #[serde(rename = "MOD")]
    Modified { mod_revision: Number },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Put {
    pub key: Text,
    pub value: Text,
    /// The lease that the key ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Number>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delete {
    pub key: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_end: Option<Text>,
}

/// A change. The records of large commits hold them as they are sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Change {
    #[serde(rename = "request_put")]
    Put(Put),
    #[serde(rename = "request_delete_range")]
    Delete(Delete),
}

#[derive(Debug, Clone, Serialize)]
pub struct Read {
    pub request_range: Range,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Txn {
    pub compare: Vec<Compare>,
    pub success: Vec<Change>,
    pub failure: Vec<Read>,
}

/// Several reads at one moment.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Reads {
    pub success: Vec<Read>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Header {
    #[serde(default)]
    pub cluster_id: String,
    #[serde(default)]
    pub revision: Number,
}

#[derive(Debug, Deserialize)]
pub struct KeyValue {
    pub key: Text,
    #[serde(default)]
    pub create_revision: Number,
    #[serde(default)]
    pub mod_revision: Number,
    #[serde(default)]
    pub value: Text,
    /// With which it ends.
    #[serde(default)]
    pub lease: Number,
}

impl KeyValue {
    pub fn into_entry(self) -> Entry {
        entry(Bytes::from(self.value.0), self.mod_revision)
    }
}

/// A value that was written at a revision.
pub fn entry(value: Bytes, revision: Number) -> Entry {
    Entry {
        value,
        version: Version(Bytes::copy_from_slice(&revision.0.to_be_bytes())),
    }
}

/// The revision at which an entry was written; 0 is none's.
pub fn revision(entry: &Entry) -> Number {
    let bytes = entry.version.0.first_chunk().copied().unwrap_or_default();
    Number(i64::from_be_bytes(bytes))
}

#[derive(Debug, Default, Deserialize)]
pub struct RangeAnswer {
    #[serde(default)]
    pub header: Header,
    #[serde(default)]
    pub kvs: Vec<KeyValue>,
    /// Whether the limit left some out.
    #[serde(default)]
    pub more: bool,
    /// The keys in the range, whatever the limit.
    #[serde(default)]
    pub count: Number,
}

#[derive(Debug, Default, Deserialize)]
pub struct TxnAnswer {
    #[serde(default)]
    pub header: Header,
    #[serde(default)]
    pub succeeded: bool,
    #[serde(default)]
    pub responses: Vec<TxnPart>,
}

#[derive(Debug, Default, Deserialize)]
pub struct TxnPart {
    pub response_range: Option<RangeAnswer>,
}

#[derive(Debug, Serialize)]
pub struct Lease {
    #[serde(rename = "ID", skip_serializing_if = "Option::is_none")]
    pub id: Option<Number>,
    /// Seconds.
    #[serde(rename = "TTL", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Number>,
}

/// Of a grant, a keepalive or a revocation. A lease that has ended has a TTL of 0.
#[derive(Debug, Default, Deserialize)]
pub struct LeaseAnswer {
    #[serde(default)]
    pub header: Header,
    #[serde(rename = "ID", default)]
    pub id: Number,
    #[serde(rename = "TTL", default)]
    pub ttl: Number,
}

/// An element of an answer that is a stream.
#[derive(Debug, Deserialize)]
pub struct Streamed<T> {
    pub result: T,
}

#[derive(Debug, Serialize)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
}

#[derive(Debug, Deserialize)]
pub struct Token {
    pub token: String,
}

#[derive(Debug, Serialize)]
pub struct AlarmQuestion {
    pub action: &'static str,
}

#[derive(Debug, Default, Deserialize)]
pub struct AlarmAnswer {
    #[serde(default)]
    pub alarms: Vec<Alarm>,
}

#[derive(Debug, Deserialize)]
pub struct Alarm {
    #[serde(default)]
    pub alarm: String,
}

#[derive(Debug, Deserialize)]
pub struct VersionAnswer {
    pub etcdcluster: String,
}

#[derive(Debug, Deserialize)]
pub struct Refusal {
    #[serde(default)]
    pub code: u32,
    #[serde(default)]
    pub message: String,
}
