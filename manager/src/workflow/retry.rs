//! How patient operations are with services that are away, a deployer that is late, and a store that cannot write.

use std::time::Duration;

use common::api::error::ErrorBody;

#[derive(Debug, Clone)]
pub struct Retry {
    /// The waits between tries. A service that is restarted is back within them.
    pub waits: Vec<Duration>,
    /// The deployer keeps to the time that it is given and then reports; this is for its report to arrive.
    pub grace: Duration,
    /// First and longest wait after the store failed; it is tried for ever.
    pub store_waits: (Duration, Duration),
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            waits: [500, 1_000, 2_000, 4_000]
                .map(Duration::from_millis)
                .to_vec(),
            grace: Duration::from_secs(15),
            store_waits: (Duration::from_millis(500), Duration::from_secs(30)),
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

/// Whether the error says that a service is away or has too much to do, and nothing is wrong with the request.
pub fn is_transient(error: &ErrorBody) -> bool {
    matches!(error.code.status(), 429 | 503)
}
