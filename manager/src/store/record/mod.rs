//! The stored form of a value: a record in an envelope with its version.

pub mod format;
pub(super) mod pieces;
pub mod token;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use self::format::NEWEST;

/// The version of most records: the format that gave them their shape. Those with a later shape say that one's.
const VERSION: u32 = 2;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(
        "the record has version {0}, and this manager knows up to {NEWEST}: run the newer manager that wrote it"
    )]
    Newer(u32),
    #[error("the record cannot be read: {0}; the store is damaged: restore a backup")]
    Damaged(serde_json::Error),
    #[error("the record cannot be written: {0}")]
    Unwritable(serde_json::Error),
}

#[derive(Serialize)]
struct Written<'a, T> {
    version: u32,
    record: &'a T,
}

/// How most records begin.
const BEGINNING: &[u8] = br#"{"version":2,"record":"#;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct Read<T> {
    version: u32,
    record: T,
}

pub fn write<T: Serialize>(record: &T) -> Result<Bytes, RecordError> {
    write_as(VERSION, record)
}

/// Writes a record that has had its shape since another format.
pub fn write_as<T: Serialize>(version: u32, record: &T) -> Result<Bytes, RecordError> {
    let bytes =
        serde_json::to_vec(&Written { version, record }).map_err(RecordError::Unwritable)?;
    Ok(bytes.into())
}

/// Parses it once. The version alone is parsed only if that fails.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RecordError> {
    let read = serde_json::from_slice::<Read<T>>(bytes);
    let version = match &read {
        Ok(read) => read.version,
        Err(_) => version(bytes)?,
    };
    if version > NEWEST {
        return Err(RecordError::Newer(version));
    }
    read.map(|read| read.record).map_err(RecordError::Damaged)
}

/// The record's JSON without parsing it. None if it has another version.
pub fn text(bytes: &[u8]) -> Option<&str> {
    let record = bytes.strip_prefix(BEGINNING)?.strip_suffix(b"}")?;
    std::str::from_utf8(record).ok()
}

/// The version of a record.
pub fn version(bytes: &[u8]) -> Result<u32, RecordError> {
    let read = serde_json::from_slice::<Version>(bytes);
    read.map(|read| read.version).map_err(RecordError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_newer_manager_is_refused_and_says_what_to_do() {
        let error = read::<u32>(br#"{"version":4,"record":{"new":"shape"}}"#).unwrap_err();
        assert!(error.to_string().contains("newer manager"), "{error}");
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let bytes = write(&vec!["a", "b"]).unwrap();
        assert_eq!(bytes, r#"{"version":2,"record":["a","b"]}"#);
        assert_eq!(read::<Vec<String>>(&bytes).unwrap(), ["a", "b"]);
        assert_eq!(text(&bytes), Some(r#"["a","b"]"#));
        assert_eq!(text(&write_as(VERSION - 1, &1).unwrap()), None);
    }

    #[test]
    fn damage_is_told_as_damage() {
        assert!(matches!(
            read::<u32>(b"{\"version\":1,\"rec"),
            Err(RecordError::Damaged(_))
        ));
    }
}
