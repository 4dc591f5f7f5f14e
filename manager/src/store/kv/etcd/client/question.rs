//! What a member can be asked, and how its answers are read.

use bytes::Bytes;
use prost::Message;
use serde::de::DeserializeOwned;

use super::proto;
use super::wire::{
    AlarmAnswer, Alarms, Credentials, Grant, Header, KeepAlive, LeaseAnswer, Range, RangeAnswer,
    Reads, Revoke, Token, Txn, TxnAnswer, VersionAnswer,
};

/// One question to one member, as it is sent.
#[derive(Debug, Clone)]
pub enum Asked {
    /// `GET /version`, which is plain HTTP and needs no user.
    Version,
    /// A call by gRPC.
    Method {
        /// `SERVICE/METHOD`.
        name: &'static str,
        message: Bytes,
    },
}

pub trait Question {
    type Answer: Answer;

    fn asked(&self) -> Asked;
}

/// An answer that may say which cluster gave it.
pub trait Answer: Sized {
    /// # Errors
    /// If it has another form than etcd's.
    fn read(bytes: &[u8]) -> Result<Self, String>;

    fn header(&self) -> Option<&Header> {
        None
    }
}

fn method(name: &'static str, message: &impl Message) -> Asked {
    let message = Bytes::from(message.encode_to_vec());
    Asked::Method { name, message }
}

fn message<M: Message + Default>(bytes: &[u8]) -> Result<M, String> {
    M::decode(bytes).map_err(|error| error.to_string())
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

impl Question for Range {
    type Answer = RangeAnswer;

    fn asked(&self) -> Asked {
        method("etcdserverpb.KV/Range", &proto::RangeRequest::from(self))
    }
}

impl Question for Txn {
    type Answer = TxnAnswer;

    fn asked(&self) -> Asked {
        method("etcdserverpb.KV/Txn", &proto::TxnRequest::from(self))
    }
}

impl Question for Reads {
    type Answer = TxnAnswer;

    fn asked(&self) -> Asked {
        method("etcdserverpb.KV/Txn", &proto::TxnRequest::from(self))
    }
}

impl Question for Grant {
    type Answer = LeaseAnswer;

    fn asked(&self) -> Asked {
        let request = proto::LeaseGrantRequest { ttl: self.ttl.0 };
        method("etcdserverpb.Lease/LeaseGrant", &request)
    }
}

impl Question for Revoke {
    type Answer = LeaseAnswer;

    fn asked(&self) -> Asked {
        let request = proto::LeaseRequest { id: self.lease.0 };
        method("etcdserverpb.Lease/LeaseRevoke", &request)
    }
}

impl Question for KeepAlive {
    type Answer = LeaseAnswer;

    /// A stream of one question and one answer.
    fn asked(&self) -> Asked {
        let request = proto::LeaseRequest { id: self.lease.0 };
        method("etcdserverpb.Lease/LeaseKeepAlive", &request)
    }
}

impl Question for Credentials<'_> {
    type Answer = Token;

    fn asked(&self) -> Asked {
        let request = proto::AuthenticateRequest {
            name: self.name.to_owned(),
            password: self.password.to_owned(),
        };
        method("etcdserverpb.Auth/Authenticate", &request)
    }
}

impl Question for Alarms {
    type Answer = AlarmAnswer;

    fn asked(&self) -> Asked {
        method("etcdserverpb.Maintenance/Alarm", &proto::AlarmRequest {})
    }
}

impl Answer for RangeAnswer {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        message::<proto::RangeResponse>(bytes).map(Into::into)
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for TxnAnswer {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        message::<proto::TxnResponse>(bytes).map(Into::into)
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for LeaseAnswer {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        message::<proto::LeaseResponse>(bytes).map(Into::into)
    }

    fn header(&self) -> Option<&Header> {
        Some(&self.header)
    }
}

impl Answer for AlarmAnswer {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        message::<proto::AlarmResponse>(bytes).map(Into::into)
    }
}

impl Answer for Token {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let answer = message::<proto::AuthenticateResponse>(bytes)?;
        Ok(Self(answer.token))
    }
}

impl Answer for VersionAnswer {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        json(bytes)
    }
}
