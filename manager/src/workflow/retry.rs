//! When to try again what a service that was away could not do.

use std::time::Duration;

use common::api::error::ErrorBody;

/// The waits between tries. A service that is restarted is back within them.
#[derive(Debug, Clone)]
pub struct Retry {
    pub waits: Vec<Duration>,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            waits: [500, 1_000, 2_000, 4_000]
                .map(Duration::from_millis)
                .to_vec(),
        }
    }
}

impl Retry {
    /// Tries, and again after each wait, while the service is away.
    pub async fn persist<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, Box<ErrorBody>>
    where
        F: Future<Output = Result<T, Box<ErrorBody>>>,
    {
        for wait in &self.waits {
            match attempt().await {
                Err(error) if is_transient(&error) => tokio::time::sleep(*wait).await,
                outcome => return outcome,
            }
        }
        attempt().await
    }
}

/// Whether the error says that a service is away, and nothing is wrong with the request.
pub fn is_transient(error: &ErrorBody) -> bool {
    error.code.status() == 503
}
