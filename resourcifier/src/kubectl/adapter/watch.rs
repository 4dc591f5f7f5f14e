//! The answer to a watch: one JSON document per line, for each change.

use std::time::Duration;

use bytes::BytesMut;
use futures::StreamExt;
use reqwest::Response;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use crate::kubectl::error::KubectlError;
use crate::kubectl::error::status;
use crate::kubectl::proxy::root_cause;
use crate::kubectl::{Change, Watch};

/// One object, with the document around it.
const LINE_BYTES: usize = 4 * 1024 * 1024;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

struct Source {
    response: Response,
    buffer: BytesMut,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

/// The changes, until the answer or the time ends. An error is the last item.
pub fn changes(response: Response, place: OwnedSemaphorePermit, within: Duration) -> Watch {
    let source = Source {
        response,
        buffer: BytesMut::new(),
        is_over: false,
        _place: place,
    };
    futures::stream::unfold(source, |mut source| async move {
        let change = source.next().await?;
        Some((change, source))
    })
    .take_until(tokio::time::sleep(within))
    .boxed()
}

impl Source {
    async fn next(&mut self) -> Option<Result<Change, KubectlError>> {
        if self.is_over {
            return None;
        }
        let line = match self.line().await {
            Ok(line) => line?,
            Err(error) => return self.last(error),
        };
        match change(&line) {
            Ok(change) => Some(Ok(change)),
            Err(error) => self.last(error),
        }
    }

    fn last(&mut self, error: KubectlError) -> Option<Result<Change, KubectlError>> {
        self.is_over = true;
        Some(Err(error))
    }

    async fn line(&mut self) -> Result<Option<BytesMut>, KubectlError> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..]
                .iter()
                .position(|byte| *byte == b'\n')
            {
                return Ok(Some(self.buffer.split_to(searched + end + 1)));
            }
            searched = self.buffer.len();
            if searched > LINE_BYTES {
                return Err(KubectlError::TooMuch {
                    call: "watch",
                    limit: LINE_BYTES / (1024 * 1024),
                });
            }
            let chunk = self.response.chunk().await.map_err(|error| {
                KubectlError::Unreachable(format!("the watch broke off: {}", root_cause(&error)))
            })?;
            match chunk {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }
}

fn change(line: &[u8]) -> Result<Change, KubectlError> {
    let malformed = |reason: String| KubectlError::Malformed {
        call: "watch",
        reason,
    };
    let line: Line = serde_json::from_slice(line).map_err(|error| malformed(error.to_string()))?;
    match line.kind.as_str() {
        "ADDED" | "MODIFIED" => Ok(Change::Is(line.object)),
        "DELETED" => Ok(Change::Gone(line.object)),
        "ERROR" => {
            let code = line.object["code"]
                .as_u64()
                .and_then(|code| u16::try_from(code).ok());
            Err(status::error(
                code.unwrap_or(500),
                line.object.to_string().as_bytes(),
            ))
        }
        other => Err(malformed(format!("a change of type {other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_and_errors_are_told_apart() {
        let is = change(br#"{"type":"MODIFIED","object":{"kind":"Pod"}}"#).unwrap();
        assert!(matches!(is, Change::Is(_)));
        let gone = change(br#"{"type":"DELETED","object":{"kind":"Pod"}}"#).unwrap();
        assert!(matches!(gone, Change::Gone(_)));
        let too_old = br#"{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old resource version: 1 (5)","reason":"Expired","code":410}}"#;
        let error = change(too_old).unwrap_err();
        assert!(
            error.is_transient() && error.to_string().contains("too old"),
            "{error}"
        );
    }
}
