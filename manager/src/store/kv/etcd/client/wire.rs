//! Questions to etcd and its answers, whatever they are sent as ([`super::proto`]).
//!
//! Changes are also kept in etcd, as JSON, in the records of large commits: bytes are base64 there, and 64-bit numbers are
//! text. A manager reads those of an earlier release.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::kv::{Entry, Version};

/// A key or a value.
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

/// A revision, the id of a lease, or a count.
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

#[derive(Debug, Clone, Default)]
pub struct Range {
    pub key: Text,
    /// Exclusive. Without it, the range is the key alone.
    pub range_end: Option<Text>,
    pub limit: Option<Number>,
    /// As it was then; without it, as it is now.
    pub revision: Option<Number>,
    pub keys_only: bool,
    /// One member answers for itself, also if it is behind.
    pub serializable: bool,
    pub is_descending: bool,
}

#[derive(Debug, Clone)]
pub struct Compare {
    pub key: Text,
    pub target: Target,
}

/// What of a key must be equal. A key that does not exist has 0.
#[derive(Debug, Clone, Copy)]
pub enum Target {
    Created { create_revision: Number },
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

/// A change, also in the records of large commits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Change {
    #[serde(rename = "request_put")]
    Put(Put),
    #[serde(rename = "request_delete_range")]
    Delete(Delete),
}

#[derive(Debug, Clone)]
pub struct Read {
    pub request_range: Range,
}

#[derive(Debug, Clone, Default)]
pub struct Txn {
    pub compare: Vec<Compare>,
    pub success: Vec<Change>,
    pub failure: Vec<Read>,
}

/// Several reads at one moment.
#[derive(Debug, Clone, Default)]
pub struct Reads {
    pub success: Vec<Read>,
}

#[derive(Debug, Default)]
pub struct Header {
    pub cluster_id: String,
    pub revision: Number,
}

#[derive(Debug)]
pub struct KeyValue {
    pub key: Text,
    pub create_revision: Number,
    pub mod_revision: Number,
    pub value: Text,
    /// With which it ends.
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

#[derive(Debug, Default)]
pub struct RangeAnswer {
    pub header: Header,
    pub kvs: Vec<KeyValue>,
    /// Whether the limit left some out.
    pub more: bool,
    /// The keys in the range, whatever the limit.
    pub count: Number,
}

#[derive(Debug, Default)]
pub struct TxnAnswer {
    pub header: Header,
    pub succeeded: bool,
    pub responses: Vec<TxnPart>,
}

#[derive(Debug, Default)]
pub struct TxnPart {
    pub response_range: Option<RangeAnswer>,
}

/// A new lease.
#[derive(Debug)]
pub struct Grant {
    /// Seconds.
    pub ttl: Number,
}

#[derive(Debug)]
pub struct KeepAlive {
    pub lease: Number,
}

#[derive(Debug)]
pub struct Revoke {
    pub lease: Number,
}

/// Of a grant, a keepalive or a revocation. A lease that has ended has a TTL of 0.
#[derive(Debug, Default)]
pub struct LeaseAnswer {
    pub header: Header,
    pub id: Number,
    pub ttl: Number,
}

#[derive(Debug)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
}

#[derive(Debug)]
pub struct Token(pub String);

/// Which alarms etcd has raised.
#[derive(Debug)]
pub struct Alarms;

#[derive(Debug)]
pub struct AlarmAnswer {
    pub no_space: bool,
    /// Its members differ.
    pub is_corrupt: bool,
}

#[derive(Debug, Deserialize)]
pub struct VersionAnswer {
    pub etcdcluster: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A manager of another release completes the commit.
    #[test]
    fn changes_have_one_form_in_the_records_of_large_commits() {
        let put = Put {
            key: Text(b"key".to_vec()),
            value: Text(b"value".to_vec()),
            lease: Some(Number(7)),
        };
        let delete = Delete {
            key: Text(b"key".to_vec()),
            range_end: None,
        };
        let changes = [Change::Put(put), Change::Delete(delete)];
        let form = r#"[{"request_put":{"key":"a2V5","value":"dmFsdWU=","lease":"7"}},{"request_delete_range":{"key":"a2V5"}}]"#;
        assert_eq!(serde_json::to_string(&changes).unwrap(), form);
        let read: Vec<Change> = serde_json::from_str(form).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), form);
    }
}
