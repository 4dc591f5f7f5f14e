//! The id that connects the log lines of one request in all services.
//!
//! The server runs each request with an id (and the manager each operation). The client sends the current id.

use std::future::Future;

/// The header that carries it.
pub const HEADER: &str = "x-request-id";

/// Longer ids of callers are replaced.
const MAX_CHARS: usize = 64;

tokio::task_local! {
    static CURRENT: String;
}

/// A new id.
pub fn fresh() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// The caller's id if it is safe in logs and headers, otherwise a new one.
pub fn accept(offered: Option<&str>) -> String {
    let harmless = |id: &&str| {
        (1..=MAX_CHARS).contains(&id.len())
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    offered.filter(harmless).map_or_else(fresh, str::to_owned)
}

/// The id of the request that this task works for, if there is one.
pub fn current() -> Option<String> {
    CURRENT.try_with(String::clone).ok()
}

/// Runs the future with a request id.
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
