//! Waiting for a condition, never for a time.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Tries the condition until it gives a value. On time-out, the error has its last error.
pub async fn until<T, F, Fut>(what: &str, within: Duration, mut look: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T>>,
{
    let deadline = Instant::now() + within;
    loop {
        match look().await {
            Ok(found) => return Ok(found),
            Err(last) if Instant::now() > deadline => {
                bail!(
                    "waited {} s for {what}; at last: {last:#}",
                    within.as_secs()
                )
            }
            Err(_) => tokio::time::sleep(INTERVAL).await,
        }
    }
}
