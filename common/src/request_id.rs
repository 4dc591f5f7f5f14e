//! The id that ties one request together across the services and their logs.
//!
//! The server scopes each request (and the manager each operation) in an id; the client sends the current id along.

use std::future::Future;

/// The header that carries it.
pub const HEADER: &str = "x-request-id";

/// Longer ids than this are not taken from callers.
const MAX_CHARS: usize = 64;

tokio::task_local! {
    static CURRENT: String;
}

/// A new id.
pub fn fresh() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The caller's id if it is a harmless one, else a new one: it goes into logs and headers.
pub fn accept(offered: Option<&str>) -> String {
    let harmless = |id: &&str| {
        (1..=MAX_CHARS).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    offered.filter(harmless).map_or_else(fresh, str::to_owned)
}

/// The id of the request that this task works for, if it works for one.
pub fn current() -> Option<String> {
    CURRENT.try_with(String::clone).ok()
}

/// Runs the future in the name of a request.
pub async fn scope<F: Future>(id: String, work: F) -> F::Output {
    CURRENT.scope(id, work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_harmless_id_is_taken_from_the_caller() {
        assert_eq!(accept(Some("abc-1")), "abc-1");
        for bad in ["", "a b", "a\nb", &"x".repeat(65)] {
            assert_ne!(accept(Some(bad)), bad);
        }
    }
}
