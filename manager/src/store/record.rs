//! What a value looks like in the store: a record in an envelope that tells its version.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of all records that this program writes. A change of a record's shape counts it up, and reading
/// brings older ones up to date.
pub const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error(
        "the record has version {0}, and this manager knows up to {VERSION}: run the newer manager that wrote it"
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

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize)]
struct Read<T> {
    record: T,
}

pub fn write<T: Serialize>(record: &T) -> Result<Bytes, RecordError> {
    let bytes = serde_json::to_vec(&Written {
        version: VERSION,
        record,
    })
    .map_err(RecordError::Unwritable)?;
    Ok(bytes.into())
}

pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, RecordError> {
    let Version { version } = serde_json::from_slice(bytes).map_err(RecordError::Damaged)?;
    if version > VERSION {
        return Err(RecordError::Newer(version));
    }
    let Read { record } = serde_json::from_slice(bytes).map_err(RecordError::Damaged)?;
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_newer_manager_is_refused_and_says_what_to_do() {
        let error = read::<u32>(br#"{"version":2,"record":{"new":"shape"}}"#).unwrap_err();
        assert!(error.to_string().contains("newer manager"), "{error}");
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let bytes = write(&vec!["a", "b"]).unwrap();
        assert_eq!(bytes, r#"{"version":1,"record":["a","b"]}"#);
        assert_eq!(read::<Vec<String>>(&bytes).unwrap(), ["a", "b"]);
    }

    #[test]
    fn damage_is_told_as_damage() {
        assert!(matches!(
            read::<u32>(b"{\"version\":1,\"rec"),
            Err(RecordError::Damaged(_))
        ));
    }
}
