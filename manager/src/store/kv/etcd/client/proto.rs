//! The messages of etcd's API (`etcdserverpb`, `mvccpb`), as far as this manager uses them, and what they say of
//! [`super::wire`]'s questions and answers.
//!
//! Written by hand: the definitions of all of etcd's services need `protoc` at build time, and have many more
//! fields. The numbers are those of etcd's `rpc.proto`, which never change.

use prost::{Enumeration, Message, Oneof};

use super::wire;
use super::wire::{Number, Text};

#[derive(Clone, PartialEq, Message)]
pub struct Header {
    #[prost(uint64, tag = "1")]
    pub cluster_id: u64,
    #[prost(int64, tag = "3")]
    pub revision: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum SortOrder {
    None = 0,
    Ascend = 1,
    Descend = 2,
}

#[derive(Clone, PartialEq, Message)]
pub struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub limit: i64,
    #[prost(int64, tag = "4")]
    pub revision: i64,
    #[prost(enumeration = "SortOrder", tag = "5")]
    pub sort_order: i32,
    #[prost(bool, tag = "7")]
    pub serializable: bool,
    #[prost(bool, tag = "8")]
    pub keys_only: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub create_revision: i64,
    #[prost(int64, tag = "3")]
    pub mod_revision: i64,
    #[prost(bytes = "vec", tag = "5")]
    pub value: Vec<u8>,
    #[prost(int64, tag = "6")]
    pub lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct RangeResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(message, repeated, tag = "2")]
    pub kvs: Vec<KeyValue>,
    #[prost(bool, tag = "3")]
    pub more: bool,
    #[prost(int64, tag = "4")]
    pub count: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub lease: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RequestOp {
    #[prost(oneof = "Request", tags = "1, 2, 3")]
    pub request: Option<Request>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Request {
    #[prost(message, tag = "1")]
    Range(RangeRequest),
    #[prost(message, tag = "2")]
    Put(PutRequest),
    #[prost(message, tag = "3")]
    DeleteRange(DeleteRangeRequest),
}

#[derive(Clone, PartialEq, Message)]
pub struct ResponseOp {
    /// Answers of puts and deletes are not read.
    #[prost(message, optional, tag = "1")]
    pub response_range: Option<RangeResponse>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum CompareTarget {
    Version = 0,
    Create = 1,
    Mod = 2,
}

/// Whether they are equal, which is the result with the number 0.
#[derive(Clone, PartialEq, Message)]
pub struct Compare {
    #[prost(enumeration = "CompareTarget", tag = "2")]
    pub target: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub key: Vec<u8>,
    #[prost(oneof = "TargetUnion", tags = "5, 6")]
    pub target_union: Option<TargetUnion>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum TargetUnion {
    #[prost(int64, tag = "5")]
    CreateRevision(i64),
    #[prost(int64, tag = "6")]
    ModRevision(i64),
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnRequest {
    #[prost(message, repeated, tag = "1")]
    pub compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub success: Vec<RequestOp>,
    #[prost(message, repeated, tag = "3")]
    pub failure: Vec<RequestOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(bool, tag = "2")]
    pub succeeded: bool,
    #[prost(message, repeated, tag = "3")]
    pub responses: Vec<ResponseOp>,
}

#[derive(Clone, PartialEq, Message)]
pub struct LeaseGrantRequest {
    #[prost(int64, tag = "1")]
    pub ttl: i64,
}

/// Of `LeaseRevoke` and `LeaseKeepAlive`.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseRequest {
    #[prost(int64, tag = "1")]
    pub id: i64,
}

/// Of a grant, a keepalive or a revocation.
#[derive(Clone, PartialEq, Message)]
pub struct LeaseResponse {
    #[prost(message, optional, tag = "1")]
    pub header: Option<Header>,
    #[prost(int64, tag = "2")]
    pub id: i64,
    #[prost(int64, tag = "3")]
    pub ttl: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct AuthenticateRequest {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub password: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct AuthenticateResponse {
    #[prost(string, tag = "2")]
    pub token: String,
}

/// Which alarms there are: the action with the number 0.
#[derive(Clone, PartialEq, Message)]
pub struct AlarmRequest {}

#[derive(Clone, PartialEq, Message)]
pub struct AlarmResponse {
    #[prost(message, repeated, tag = "2")]
    pub alarms: Vec<AlarmMember>,
}

#[derive(Clone, PartialEq, Message)]
pub struct AlarmMember {
    #[prost(enumeration = "AlarmType", tag = "2")]
    pub alarm: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum AlarmType {
    None = 0,
    NoSpace = 1,
    Corrupt = 2,
}

impl From<&wire::Range> for RangeRequest {
    fn from(range: &wire::Range) -> Self {
        let order = match range.is_descending {
            true => SortOrder::Descend,
            false => SortOrder::None,
        };
        Self {
            key: range.key.0.clone(),
            range_end: bytes(range.range_end.as_ref()),
            limit: number(range.limit),
            revision: number(range.revision),
            sort_order: order.into(),
            serializable: range.serializable,
            keys_only: range.keys_only,
        }
    }
}

impl From<&wire::Read> for RequestOp {
    fn from(read: &wire::Read) -> Self {
        let range = Request::Range(RangeRequest::from(&read.request_range));
        Self {
            request: Some(range),
        }
    }
}

impl From<&wire::Change> for RequestOp {
    fn from(change: &wire::Change) -> Self {
        let request = match change {
            wire::Change::Put(put) => Request::Put(PutRequest {
                key: put.key.0.clone(),
                value: put.value.0.clone(),
                lease: number(put.lease),
            }),
            wire::Change::Delete(delete) => Request::DeleteRange(DeleteRangeRequest {
                key: delete.key.0.clone(),
                range_end: bytes(delete.range_end.as_ref()),
            }),
        };
        Self {
            request: Some(request),
        }
    }
}

impl From<&wire::Compare> for Compare {
    fn from(compare: &wire::Compare) -> Self {
        let (target, union) = match compare.target {
            wire::Target::Created { create_revision } => (
                CompareTarget::Create,
                TargetUnion::CreateRevision(create_revision.0),
            ),
            wire::Target::Modified { mod_revision } => {
                (CompareTarget::Mod, TargetUnion::ModRevision(mod_revision.0))
            }
        };
        Self {
            target: target.into(),
            key: compare.key.0.clone(),
            target_union: Some(union),
        }
    }
}

impl From<&wire::Txn> for TxnRequest {
    fn from(txn: &wire::Txn) -> Self {
        Self {
            compare: txn.compare.iter().map(Into::into).collect(),
            success: txn.success.iter().map(Into::into).collect(),
            failure: txn.failure.iter().map(Into::into).collect(),
        }
    }
}

impl From<&wire::Reads> for TxnRequest {
    fn from(reads: &wire::Reads) -> Self {
        Self {
            success: reads.success.iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

impl From<Option<Header>> for wire::Header {
    fn from(header: Option<Header>) -> Self {
        header.map_or_else(Self::default, |header| Self {
            cluster_id: header.cluster_id.to_string(),
            revision: Number(header.revision),
        })
    }
}

impl From<KeyValue> for wire::KeyValue {
    fn from(found: KeyValue) -> Self {
        Self {
            key: Text(found.key),
            create_revision: Number(found.create_revision),
            mod_revision: Number(found.mod_revision),
            value: Text(found.value),
            lease: Number(found.lease),
        }
    }
}

impl From<RangeResponse> for wire::RangeAnswer {
    fn from(answer: RangeResponse) -> Self {
        Self {
            header: answer.header.into(),
            kvs: answer.kvs.into_iter().map(Into::into).collect(),
            more: answer.more,
            count: Number(answer.count),
        }
    }
}

impl From<TxnResponse> for wire::TxnAnswer {
    fn from(answer: TxnResponse) -> Self {
        let part = |part: ResponseOp| wire::TxnPart {
            response_range: part.response_range.map(Into::into),
        };
        Self {
            header: answer.header.into(),
            succeeded: answer.succeeded,
            responses: answer.responses.into_iter().map(part).collect(),
        }
    }
}

impl From<LeaseResponse> for wire::LeaseAnswer {
    fn from(answer: LeaseResponse) -> Self {
        Self {
            header: answer.header.into(),
            id: Number(answer.id),
            ttl: Number(answer.ttl),
        }
    }
}

impl From<AlarmResponse> for wire::AlarmAnswer {
    fn from(answer: AlarmResponse) -> Self {
        let has = |alarm: AlarmType| answer.alarms.iter().any(|found| found.alarm() == alarm);
        Self {
            no_space: has(AlarmType::NoSpace),
            is_corrupt: has(AlarmType::Corrupt),
        }
    }
}

/// Left out, it is empty.
fn bytes(text: Option<&Text>) -> Vec<u8> {
    text.map_or_else(Vec::new, |text| text.0.clone())
}

/// Left out, it is 0.
fn number(number: Option<Number>) -> i64 {
    number.unwrap_or_default().0
}
