//! A call by gRPC over the HTTP client that the other services are called with (the protocol is gRPC's
//! `PROTOCOL-HTTP2.md`): a message has a prefix of five bytes, and how the call ended stands in the trailers.
//!
//! A client library for gRPC would bring a second HTTP client, with TLS and failover of its own.

use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http_body_util::BodyExt as _;
use percent_encoding::percent_decode_str;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, StatusCode};
use url::Url;

use super::refusal::{self, Attempt};

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const TRAILERS: HeaderValue = HeaderValue::from_static("trailers");
/// Not compressed.
const PLAIN: u8 = 0;
/// The prefix of a message: whether it is compressed, and its length.
const PREFIX: usize = 5;
const OK: u32 = 0;

/// How a call has ended that has no answer.
#[derive(Debug)]
pub struct Ended {
    /// Of gRPC.
    pub code: u32,
    pub message: String,
}

/// The message of the answer.
pub async fn call(
    request: RequestBuilder,
    url: &Url,
    message: &[u8],
    within: Duration,
    has_user: bool,
) -> Result<Bytes, Attempt> {
    let request = request
        .header(CONTENT_TYPE, GRPC)
        .header(HeaderName::from_static("te"), TRAILERS)
        .body(framed(message))
        .timeout(within);
    let away = |error: reqwest::Error| refusal::away(url, &error);
    let response = request.send().await.map_err(away)?;
    let (status, headers) = (response.status(), response.headers().clone());
    if status != StatusCode::OK || headers.get(CONTENT_TYPE) != Some(&GRPC) {
        return Err(refusal::no_etcd(url, status));
    }
    let body = reqwest::Body::from(response)
        .collect()
        .await
        .map_err(away)?;
    let ended = body.trailers().and_then(ended).or_else(|| ended(&headers));
    match ended {
        None => Err(refusal::cut_off(url)),
        Some(Ended { code: OK, .. }) => {
            let message = unframed(body.to_bytes());
            message.ok_or_else(|| refusal::strange(url, "its message has another length"))
        }
        Some(ended) => Err(refusal::read(url, &ended, has_user)),
    }
}

fn framed(message: &[u8]) -> Bytes {
    let mut body = BytesMut::with_capacity(PREFIX + message.len());
    body.put_u8(PLAIN);
    // A message for etcd has 1.5 MiB at most.
    body.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    body.put_slice(message);
    body.freeze()
}

/// The one message of an answer.
fn unframed(mut body: Bytes) -> Option<Bytes> {
    if body.len() < PREFIX || body.get_u8() != PLAIN {
        return None;
    }
    let length = usize::try_from(body.get_u32()).ok()?;
    (length == body.len()).then_some(body)
}

/// A call that has failed at once says so in its headers.
fn ended(headers: &HeaderMap) -> Option<Ended> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let code = text("grpc-status")?.parse().ok()?;
    let message = percent_decode_str(text("grpc-message").unwrap_or_default());
    Some(Ended {
        code,
        message: message.decode_utf8_lossy().into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_out_as_it_went_in_and_no_part_of_one() {
        for length in [0, 1, 300] {
            let message = vec![7; length];
            let body = framed(&message);
            assert_eq!(unframed(body.clone()).as_deref(), Some(message.as_slice()));
            for short in 0..body.len() {
                assert_eq!(unframed(body.slice(..short)), None, "{short} of {length}");
            }
        }
        assert_eq!(unframed(Bytes::from_static(&[1, 0, 0, 0, 0])), None);
    }

    #[test]
    fn the_end_of_a_call_is_read_from_its_headers() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            let each = pairs.iter().map(|(name, value)| {
                let name = HeaderName::from_static(name);
                (name, HeaderValue::from_static(value))
            });
            each.collect::<HeaderMap>()
        };
        let said = ended(&headers(&[
            ("grpc-status", "3"),
            ("grpc-message", "50%25 of \u{20}it"),
        ]));
        let said = said.unwrap();
        assert_eq!((said.code, said.message.as_str()), (3, "50% of  it"));
        assert!(ended(&headers(&[("grpc-status", "x")])).is_none());
        assert!(ended(&headers(&[])).is_none());
    }
}
