//! What a browser may do with a session: its cookie, and the proof that its own page sends the request.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use common::api::error::{ErrorBody, ErrorCode};
use url::Url;

use super::authentication::Authenticators;
use super::sessions::Sessions;
use super::sign_in::SignIn;

/// Over TLS: browsers accept a cookie of this name only from this host, and only with `Secure`.
const ENCRYPTED: &str = "__Host-dm-session";
/// On loopback without TLS.
const PLAIN: &str = "dm-session";
/// No form and no link of another page can send it.
const PROOF: &str = "x-dm-csrf";

/// Clones share the sessions.
#[derive(Clone, Default)]
pub struct BrowserAccess {
    pub authenticators: Authenticators,
    pub sessions: Arc<Sessions>,
    pub sign_in: Option<Arc<SignIn>>,
    /// The address of the manager for browsers, if the operator gave it.
    pub public_url: Option<Url>,
}

/// The names and values of a request's cookies.
pub fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let texts = headers
        .get_all(COOKIE)
        .filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('='))
}

/// The ids of sessions among them.
pub fn session_cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let own = cookies(headers).filter(|(name, _)| [ENCRYPTED, PLAIN].contains(name));
    own.map(|(_, value)| value)
}

impl BrowserAccess {
    /// The token of the request's session, if it has one.
    pub fn token(&self, headers: &HeaderMap) -> Option<String> {
        session_cookies(headers).find_map(|id| self.sessions.token(id))
    }

    /// Refuses a write that another page may have caused: browsers send cookies along by themselves.
    pub fn check_forgery(&self, request: &HttpRequest) -> Result<(), ErrorBody> {
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(());
        }
        let headers = request.headers();
        let is_own = match headers.get("sec-fetch-site") {
            Some(site) => site == "same-origin",
            // Browsers leave it out on addresses without TLS. Then the origin must be this host.
            None => self.is_own_origin(headers),
        };
        match is_own && headers.contains_key(PROOF) {
            true => Ok(()),
            false => {
                let message = "a request with a session must come from the manager's own page, with the header X-DM-CSRF: other clients send a token";
                Err(ErrorBody::new(ErrorCode::Forbidden, message))
            }
        }
    }

    fn is_own_origin(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let origin = text(ORIGIN).and_then(|origin| Url::parse(origin).ok());
        let Some(origin) = origin else { return false };
        let own = self.public_url.as_ref();
        if own.is_some_and(|own| own.origin() == origin.origin()) {
            return true;
        }
        let host = text(HOST).and_then(|host| Url::parse(&format!("http://{host}")).ok());
        host.is_some_and(|host| {
            (host.host_str(), host.port()) == (origin.host_str(), origin.port())
        })
    }

    pub fn cookie_name(&self, request: &HttpRequest) -> &'static str {
        match self.is_encrypted(request) {
            true => ENCRYPTED,
            false => PLAIN,
        }
    }

    /// Whether the browser reaches the manager over TLS, perhaps at a proxy.
    pub fn is_encrypted(&self, request: &HttpRequest) -> bool {
        let public = self.public_url.as_ref();
        request.app_config().secure() || public.is_some_and(|url| url.scheme() == "https")
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn only_the_managers_own_page_writes_with_a_session() {
        let access = BrowserAccess {
            public_url: Some(Url::parse("https://dm.example").unwrap()),
            ..BrowserAccess::default()
        };
        let cases: [(&[(&str, &str)], bool); 8] = [
            (&[("sec-fetch-site", "same-origin"), (PROOF, "1")], true),
            (&[("sec-fetch-site", "same-origin")], false),
            (&[("sec-fetch-site", "same-site"), (PROOF, "1")], false),
            (&[("sec-fetch-site", "none"), (PROOF, "1")], false),
            (
                &[
                    ("origin", "http://127.0.0.1:1"),
                    ("host", "127.0.0.1:1"),
                    (PROOF, "1"),
                ],
                true,
            ),
            (
                &[
                    ("origin", "https://dm.example"),
                    ("host", "10.0.0.1"),
                    (PROOF, "1"),
                ],
                true,
            ),
            (
                &[
                    ("origin", "https://evil.example"),
                    ("host", "127.0.0.1:1"),
                    (PROOF, "1"),
                ],
                false,
            ),
            (&[(PROOF, "1")], false),
        ];
        for (headers, expected) in cases {
            let request = headers.iter().fold(TestRequest::post(), |request, header| {
                request.insert_header(*header)
            });
            let outcome = access.check_forgery(&request.to_http_request());
            assert_eq!(outcome.is_ok(), expected, "{headers:?}");
        }
        let read = TestRequest::get().to_http_request();
        assert!(access.check_forgery(&read).is_ok());
    }

    #[test]
    fn the_session_is_found_among_other_cookies() {
        let request =
            TestRequest::get().insert_header(("cookie", "a=b; dm-session=x; __Host-dm-session=y"));
        let request = request.to_http_request();
        let found: Vec<_> = session_cookies(request.headers()).collect();
        assert_eq!(found, ["x", "y"]);
    }
}
