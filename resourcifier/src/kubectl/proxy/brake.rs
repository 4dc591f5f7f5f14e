//! Delays all calls when the API server reports too many requests.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// The delay that the API server usually asks for.
const SHORTEST: Duration = Duration::from_secs(1);
/// The maximum delay. Callers have their own deadlines.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub struct Brake(Mutex<Option<Instant>>);

impl Brake {
    /// Delays all calls. `attempt` is the number of tries of the rejected call.
    pub fn press(&self, retry_after: Option<Duration>, attempt: u32) {
        let until = Instant::now() + pause(retry_after, attempt);
        let mut held = self.lock();
        *held = (*held).max(Some(until));
    }

    /// Returns when calls may continue.
    pub async fn wait(&self) {
        loop {
            let until = *self.lock();
            match until {
                Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                _ => return,
            }
        }
    }

    /// The value is a single instant, so a panic of a holder cannot leave it half written.
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The delay that the answer asks for. Without one, a delay that doubles with each attempt.
fn pause(retry_after: Option<Duration>, attempt: u32) -> Duration {
    let doubled = SHORTEST.saturating_mul(2_u32.saturating_pow(attempt));
    retry_after.unwrap_or(doubled).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_as_long_as_the_server_asks_and_never_for_ever() {
        let cases = [
            (Some(3), 0, 3),
            (Some(0), 0, 1),
            (Some(86_400), 0, 30),
            (None, 0, 1),
            (None, 2, 4),
            (None, 99, 30),
        ];
        for (asked, attempt, seconds) in cases {
            let pause = pause(asked.map(Duration::from_secs), attempt);
            assert_eq!(pause.as_secs(), seconds, "{asked:?} {attempt}");
        }
    }

    #[test]
    fn a_shorter_wish_does_not_end_a_longer_pause() {
        let brake = Brake::default();
        brake.press(Some(Duration::from_secs(20)), 0);
        let longer = *brake.lock();
        brake.press(Some(Duration::from_secs(1)), 0);
        assert_eq!(*brake.lock(), longer);
    }
}
