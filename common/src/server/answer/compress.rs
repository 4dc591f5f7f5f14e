//! Compresses answers with gzip for clients that accept it.
//!
//! Written by hand, because the middleware of actix also compresses streams of events, which would then arrive late, and answers of
//! a few bytes, which become larger.

use std::io::Write as _;

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use actix_web::middleware::Next;
use actix_web::web::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::work::{self, Size};

/// Smaller answers fit into a packet or two anyway.
const SMALL_BYTES: u64 = 2 * 1024;

/// Compresses an answer whose length is known and whose type is text. Streams stay as they are.
pub async fn compress(
    request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let accepted = accepts_gzip(request.headers());
    let is_head = request.method() == Method::HEAD;
    let response = next.call(request).await?;
    let is_large =
        matches!(response.response().body().size(), BodySize::Sized(bytes) if bytes >= SMALL_BYTES);
    if !accepted || !is_large || is_head || !is_text(response.headers()) {
        return Ok(response);
    }
    let (request, response) = response.into_parts();
    let (mut response, body) = response.into_parts();
    let body = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return Ok(ServiceResponse::new(request, response.set_body(body))),
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    let packed = work::sized(Size::bytes(body.len()), {
        let body = body.clone();
        move || packed(&body)
    });
    let body = match packed.await {
        Ok(packed) => {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            packed
        }
        // It is written to memory, which does not fail.
        Err(_) => body,
    };
    let response = response.set_body(BoxBody::new(body));
    Ok(ServiceResponse::new(request, response))
}

fn packed(body: &[u8]) -> std::io::Result<Bytes> {
    let room = Vec::with_capacity(body.len() / 4);
    let mut encoder = GzEncoder::new(room, Compression::fast());
    encoder.write_all(body)?;
    Ok(encoder.finish()?.into())
}

/// Whether the client takes gzip: named without a weight of zero (RFC 9110).
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let texts = headers
        .get_all(ACCEPT_ENCODING)
        .filter_map(|value| value.to_str().ok());
    let mut codings = texts.flat_map(|text| text.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = weight
            .trim()
            .strip_prefix("q=")
            .is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

fn is_text(headers: &HeaderMap) -> bool {
    let of_type = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default();
        [
            "application/json",
            "application/yaml",
            "text/plain",
            "text/csv",
        ]
        .iter()
        .any(|known| text.starts_with(known))
    };
    !headers.contains_key(CONTENT_ENCODING) && headers.get(CONTENT_TYPE).is_some_and(of_type)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use actix_web::middleware::from_fn;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, HttpResponse, web};

    use super::*;
    use crate::server::request::bodiless::bodiless;

    /// The coding and the body of an answer of this size.
    async fn answered(bytes: usize, kind: &'static str, accepted: &str) -> (bool, Bytes) {
        let answer = move || async move {
            HttpResponse::Ok()
                .content_type(kind)
                .body("a".repeat(bytes))
        };
        let app = App::new()
            .wrap(from_fn(compress))
            .wrap(from_fn(bodiless))
            .route("/", web::get().to(answer));
        let app = init_service(app).await;
        let request = TestRequest::get().insert_header((ACCEPT_ENCODING, accepted));
        let response = call_service(&app, request.to_request()).await;
        let coded = response.headers().contains_key(CONTENT_ENCODING);
        (coded, read_body(response).await)
    }

    #[actix_web::test]
    async fn large_texts_are_compressed_for_those_who_take_it_and_are_the_same_text() {
        let (coded, body) = answered(100_000, "application/json", "br, gzip;q=0.8").await;
        assert!(coded && body.len() < 1000);
        let mut text = String::new();
        let mut decoder = flate2::read::GzDecoder::new(body.as_ref());
        decoder.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a".repeat(100_000));
    }

    #[actix_web::test]
    async fn small_answers_other_types_and_other_clients_get_plain_bytes() {
        for (bytes, kind, accepted) in [
            (100, "application/json", "gzip"),
            (100_000, "text/event-stream", "gzip"),
            (100_000, "application/gzip", "gzip"),
            (100_000, "application/json", "br"),
            (100_000, "application/json", "gzip;q=0"),
            (100_000, "application/json", ""),
        ] {
            let (coded, body) = answered(bytes, kind, accepted).await;
            assert!(!coded, "{bytes} {kind} {accepted}");
            assert_eq!(body.len(), bytes);
        }
    }
}
