//! How patient operations are with services that are away, a deployer that is late, and a store that cannot write.

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct Retry {
    /// The waits between tries. A service that is restarted is back within them.
    pub waits: Vec<Duration>,
    /// A cluster that goes away in the middle of a job is waited for this long, with the last of the waits in between. A
    /// write that finds it away before anything was done fails sooner.
    pub cluster: Duration,
    /// The deployer keeps to the time that it is given and then reports; this is for its report to arrive.
    pub grace: Duration,
    /// For so long a job of the deployer writes after each sign of life of the manager. One of which nothing is known any more
    /// is waited out for so long before its deployment is free.
    pub lease: Duration,
    /// First and longest wait after the store failed; it is tried for ever.
    pub store_waits: (Duration, Duration),
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            waits: [500, 1_000, 2_000, 4_000]
                .map(Duration::from_millis)
                .to_vec(),
            cluster: Duration::from_secs(90),
            grace: Duration::from_secs(15),
            lease: Duration::from_secs(30),
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

    /// The wait before a job is tried again that failed so, after so many tries since then; `None` when it was enough.
    pub fn wait(&self, error: &ErrorBody, tries: usize, since: Instant) -> Option<Duration> {
        let is_away = error.code == ErrorCode::ClusterUnavailable;
        let is_early = is_away && since.elapsed() < self.cluster;
        let wait = self.waits.get(tries);
        wait.or_else(|| self.waits.last().filter(|_| is_early))
            .copied()
    }
}

/// Whether the error says that a service is away or has too much to do, and nothing is wrong with the request.
pub fn is_transient(error: &ErrorBody) -> bool {
    matches!(error.code.status(), 429 | 503)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_waited_for_longer_than_a_service_but_not_for_ever() {
        let retry = Retry::default();
        let after = |code, tries, seconds| {
            let since = Instant::now() - Duration::from_secs(seconds);
            retry.wait(&ErrorBody::new(code, "away"), tries, since)
        };
        let longest = Some(Duration::from_secs(4));
        assert_eq!(after(ErrorCode::DeployerUnavailable, 3, 3), longest);
        assert_eq!(after(ErrorCode::DeployerUnavailable, 4, 7), None);
        assert_eq!(after(ErrorCode::ClusterUnavailable, 4, 7), longest);
        assert_eq!(after(ErrorCode::ClusterUnavailable, 18, 60), longest);
        assert_eq!(after(ErrorCode::ClusterUnavailable, 25, 91), None);
    }
}
