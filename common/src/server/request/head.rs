//! Checks the head of a request first: heads that no valid client sends are rejected here.
//!
//! actix itself refuses heads over 128 KiB, more than 96 headers, a repeated Content-Length, Transfer-Encoding or Host,
//! and folded headers, and closes the connection.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{AUTHORIZATION, CONTENT_ENCODING, HOST, HeaderMap, ORIGIN};
use url::{Host, Url};

use crate::api::error::ErrorCode;
use crate::server::answer::error::ApiError;

/// The longest valid path has the name of a type and a page token: less than 2 KiB.
const URI_BYTES: usize = 8 * 1024;
/// A token with hundreds of groups has about 16 KiB.
const HEADER_BYTES: usize = 32 * 1024;

/// Refuses heads that are too large, compressed bodies, and two credentials in one request. Messages name limits, never the
/// request's content.
pub(in crate::server) fn check(request: &HttpRequest) -> Result<(), ApiError> {
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
            "the body is compressed: send it uncompressed, without Content-Encoding",
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

/// Without authentication, any web page in a browser on this machine could write. Browsers send the origin of a page, and only
/// pages of this machine are allowed.
pub(in crate::server) fn check_origin(request: &HttpRequest) -> Result<(), ApiError> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(());
    }
    let mut origins = request.headers().get_all(ORIGIN);
    match origins.all(|origin| origin.to_str().is_ok_and(is_local)) {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::Forbidden,
            "a web page of another origin may not write: no authentication is configured, and only pages of this machine are allowed",
        )),
    }
}

/// Without authentication, a page of another host could let its name resolve to this machine (DNS rebinding), and then read
/// and write like a page of this machine. Its requests still have the page's host in `Host`.
///
/// A request without a host does not come from a browser, and passes.
pub(in crate::server) fn check_host(request: &HttpRequest) -> Result<(), ApiError> {
    // HTTP/2, and HTTP/1.1 in absolute form, name the host in the request's target.
    let target = request.uri().authority().map(|host| host.as_str());
    let is_own = |host: &str| is_local(&format!("http://{host}"));
    let mut named = request.headers().get_all(HOST);
    match named.all(|host| host.to_str().is_ok_and(is_own)) && target.is_none_or(is_own) {
        true => Ok(()),
        false => Err(ApiError::new(
            ErrorCode::Misdirected,
            "the Host header names another host than this machine: no authentication is configured, and only localhost, 127.0.0.1 and [::1] are accepted; use one of them, let the proxy send it, or configure authentication",
        )),
    }
}

/// Whether an origin, such as `http://localhost:3000`, is this machine.
fn is_local(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else {
        return false;
    };
    let is_origin = url.path() == "/"
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    is_origin
        && match url.host() {
            Some(Host::Domain(name)) => is_local_name(name),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
            None => false,
        }
}

/// RFC 6761: `localhost` and all names below it mean this machine, also with a final dot.
fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
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

    /// Spellings of this machine, and what only looks like one, for `Host` and (with a scheme) for `Origin`.
    const HOSTS: &[(&str, bool)] = &[
        ("localhost", true),
        ("LOCALHOST", true),
        ("localhost.", true),
        ("dm.localhost", true),
        ("127.0.0.1", true),
        ("127.255.0.9", true),
        ("[::1]", true),
        ("[::ffff:127.0.0.1]", true),
        ("", false),
        ("example.com", false),
        ("localhost.example.com", false),
        ("notlocalhost", false),
        ("127.0.0.1.example.com", false),
        ("localhost@example.com", false),
        ("example.com@localhost", false),
        ("localhost/example.com", false),
        ("example.com#localhost", false),
        ("example.com?localhost", false),
        ("localhost, example.com", false),
        ("0.0.0.0", false),
        ("10.0.0.1", false),
        ("169.254.169.254", false),
        ("[::]", false),
        ("[::2]", false),
        ("[::ffff:10.0.0.1]", false),
        ("::1", false),
        ("l\u{f6}calhost", false),
    ];

    fn hosts() -> impl Iterator<Item = (String, bool)> {
        let ports = ["", ":80", ":8080", ":65535"];
        let with = |port: &'static str| {
            let all = HOSTS.iter();
            all.map(move |(host, is_own)| (format!("{host}{port}"), *is_own))
        };
        let wrong = ["localhost:x", "localhost:99999", "localhost:80:80"];
        let wrong = wrong.map(|host| (host.to_owned(), false));
        ports.into_iter().flat_map(with).chain(wrong)
    }

    #[test]
    fn where_nobody_is_known_only_this_machines_own_names_are_served() {
        for (host, is_own) in hosts() {
            let Ok(value) = HeaderValue::from_bytes(host.as_bytes()) else {
                continue;
            };
            for method in [Method::GET, Method::POST] {
                let request = TestRequest::default().method(method);
                let request = request.insert_header((HOST, value.clone()));
                let outcome = check_host(&request.to_http_request());
                assert_eq!(outcome.is_ok(), is_own, "{host:?}");
            }
        }
        let nameless = TestRequest::get().to_http_request();
        assert!(check_host(&nameless).is_ok());
        let target = TestRequest::with_uri("http://example.com/deployments");
        let target = target.insert_header((HOST, "localhost"));
        assert!(check_host(&target.to_http_request()).is_err());
        let two = TestRequest::get()
            .append_header((HOST, "localhost"))
            .append_header((HOST, "example.com"));
        assert!(check_host(&two.to_http_request()).is_err());
    }

    #[test]
    fn web_pages_from_elsewhere_do_not_write_where_nobody_is_known() {
        let origins = hosts().map(|(host, is_own)| (format!("http://{host}"), is_own));
        let others = [("null", false), ("", false), ("localhost", false)];
        let others = others.map(|(origin, is_own)| (origin.to_owned(), is_own));
        for (origin, let_in) in origins.chain(others) {
            let Ok(value) = HeaderValue::from_bytes(origin.as_bytes()) else {
                continue;
            };
            let header = (ORIGIN, value);
            let write = TestRequest::post().insert_header(header.clone());
            let refused = (!let_in).then_some(ErrorCode::Forbidden);
            assert_eq!(code(write), refused, "{origin}");
            assert_eq!(code(TestRequest::get().insert_header(header)), None);
        }
    }
}
