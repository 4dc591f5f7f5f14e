//! A request's head, before anybody acts on it: what no honest client sends is answered here.
//!
//! actix itself refuses heads over 128 KiB, more than 96 headers, a repeated Content-Length, Transfer-Encoding or Host,
//! and folded headers, and closes the connection.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, ORIGIN};
use url::{Host, Url};

use super::error::ApiError;
use crate::api::error::ErrorCode;

/// The longest honest path is a type's name in a page of a list, under 2 KiB.
const URI_BYTES: usize = 8 * 1024;
/// A token with hundreds of groups has some 16 KiB.
const HEADER_BYTES: usize = 32 * 1024;

/// Refuses what is too large, compressed, or says who asks in two ways. The message names limits, never what was sent.
pub(super) fn check(request: &HttpRequest) -> Result<(), ApiError> {
    let uri = request.uri().path_and_query();
    if uri.is_some_and(|uri| uri.as_str().len() > URI_BYTES) {
        return Err(ApiError::new(
            ErrorCode::UriTooLong,
            format!(
                "the path with its query is over the limit of {} KiB",
                URI_BYTES / 1024
            ),
        ));
    }
    let headers = request.headers();
    if size(headers) > HEADER_BYTES {
        return Err(ApiError::new(
            ErrorCode::HeadersTooLarge,
            format!(
                "the headers are over the limit of {} KiB",
                HEADER_BYTES / 1024
            ),
        ));
    }
    // Decompression is where a small request becomes a large one.
    let mut encodings = headers.get_all(CONTENT_ENCODING);
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "the body is compressed: send it as it is, without Content-Encoding",
        ));
    }
    if headers.get_all(AUTHORIZATION).nth(1).is_some() {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "there is more than one Authorization header: send one",
        ));
    }
    Ok(())
}

fn size(headers: &HeaderMap) -> usize {
    let sizes = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    sizes.sum()
}

/// Where nobody proves who they are, any web page in a browser on this machine could write: browsers say where a page is
/// from, and only this machine's own are let in.
pub(super) fn check_origin(request: &HttpRequest) -> Result<(), ApiError> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let mut origins = request.headers().get_all(ORIGIN);
    match origins.all(|origin| origin.to_str().is_ok_and(is_local)) {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::Forbidden,
            "a web page from elsewhere may not write here: no authentication is configured, and only pages of this machine are let in",
        )),
    }
}

fn is_local(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else {
        return false;
    };
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn code(request: TestRequest) -> Option<ErrorCode> {
        let request = request.to_http_request();
        let refused = check(&request).and_then(|()| check_origin(&request));
        refused.err().map(|error| error.0.code)
    }

    #[test]
    fn heads_that_no_honest_client_sends_are_refused() {
        let get = TestRequest::get;
        let long = format!("/{}", "a".repeat(URI_BYTES));
        let cases = [
            (get(), None),
            (get().uri(&long), Some(ErrorCode::UriTooLong)),
            (get().uri(&long[..URI_BYTES]), None),
            (
                get().insert_header(("x-large", "a".repeat(HEADER_BYTES))),
                Some(ErrorCode::HeadersTooLarge),
            ),
            (
                get().insert_header(("content-encoding", "gzip")),
                Some(ErrorCode::UnsupportedMediaType),
            ),
            (get().insert_header(("content-encoding", "Identity")), None),
            (
                get()
                    .append_header(("authorization", "Bearer a"))
                    .append_header(("authorization", "Bearer b")),
                Some(ErrorCode::InvalidRequest),
            ),
        ];
        for (request, expected) in cases {
            assert_eq!(code(request), expected);
        }
    }

    #[test]
    fn web_pages_from_elsewhere_do_not_write_where_nobody_is_known() {
        for (origin, let_in) in [
            ("http://localhost:3000", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]", true),
            ("https://example.com", false),
            ("http://localhost.example.com", false),
            ("null", false),
        ] {
            let header = ("origin", origin);
            let write = TestRequest::post().insert_header(header);
            let refused = (!let_in).then_some(ErrorCode::Forbidden);
            assert_eq!(code(write), refused, "{origin}");
            assert_eq!(code(TestRequest::get().insert_header(header)), None);
        }
    }
}
