//! A record of what platforms change, and of the callers that the broker denies.

use actix_web::http::Method;
use actix_web::http::StatusCode;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered<'a> {
    /// Empty if the caller is not known.
    pub user: &'a str,
    pub address: Option<String>,
    pub method: &'a str,
    /// The pattern, not the path.
    pub route: String,
    pub status: u16,
}

pub trait Witness: Send + Sync {
    fn answered(&self, answered: &Answered<'_>);
}

/// Whether a request is worth a record: it may have changed something, or it was denied.
pub fn is_notable(method: &Method, status: StatusCode) -> bool {
    let is_denied = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
    is_denied || *method != Method::GET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_denials_are_notable_and_reads_are_not() {
        for (method, status, expected) in [
            (Method::PUT, StatusCode::ACCEPTED, true),
            (Method::DELETE, StatusCode::GONE, true),
            (Method::GET, StatusCode::OK, false),
            (Method::GET, StatusCode::NOT_FOUND, false),
            (Method::GET, StatusCode::UNAUTHORIZED, true),
        ] {
            assert_eq!(is_notable(&method, status), expected, "{method} {status}");
        }
    }
}
