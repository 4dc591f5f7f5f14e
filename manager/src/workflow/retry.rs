//! How long operations wait for unavailable services, a late deployer, and a store that cannot write.

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use tokio::time::Instant;

#[derive(Debug, Clone)]
pub struct Retry {
    /// The pauses between attempts. A restarted service is available again within them.
    pub waits: Vec<Duration>,
    /// How long a job waits for a cluster that becomes unavailable, with the last of the pauses in between. A write
    /// that finds it unavailable before anything was done fails sooner.
    pub cluster: Duration,
    /// The deployer reports when its time is over. This is the time for its report to arrive.
    pub grace: Duration,
    /// How long a job of the deployer may write after each sign of life of the manager. If nothing is known of a job,
    /// its deployment stays locked for this time.
    pub lease: Duration,
    /// The first and the longest pause after a failure of the store, which is retried forever.
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
    /// Repeats the call after each pause while the service is unavailable.
    pub async fn persist<T, E, F>(&self, attempt: impl Fn() -> F) -> Result<T, Box<ErrorBody>>
    where
        E: Into<Box<ErrorBody>>,
        F: Future<Output = Result<T, E>>,
    {
        for wait in &self.waits {
            match attempt().await.map_err(E::into) {
                Err(error) if is_transient(&error) => tokio::time::sleep(*wait).await,
                outcome => return outcome,
            }
        }
        attempt().await.map_err(E::into)
    }

    /// The pause before the next attempt of a job, by the number of attempts since the failure began. `None`: no more
    /// attempts.
    pub fn wait(&self, error: &ErrorBody, tries: usize, since: Instant) -> Option<Duration> {
        let is_away = error.code == ErrorCode::ClusterUnavailable;
        let is_early = is_away && since.elapsed() < self.cluster;
        let wait = self.waits.get(tries);
        wait.or_else(|| self.waits.last().filter(|_| is_early))
            .copied()
    }
}

/// Whether the error says that a service is unavailable or overloaded, and not that the request is wrong.
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
