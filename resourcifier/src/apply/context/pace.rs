//! How long work goes on: the request's deadline, the patience with a cluster that is away, the time between polls.

use std::time::Duration;

use tokio::time::Instant;

/// Polls come this fast after something happened, and slower while nothing does.
const FASTEST: Duration = Duration::from_millis(200);
const SLOWEST: Duration = Duration::from_secs(2);
/// A call that is only just in time still gets this long, so that its outcome is known.
const LEAST: Duration = Duration::from_secs(1);
/// One call, however much time is left.
const MOST: Duration = Duration::from_secs(120);
/// An API server that restarts, or is gone for a minute, is back sooner; one that is gone for good should not hold a caller
/// for the whole of its timeout.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The time that is left for a request.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    at: Instant,
    total: Duration,
}

impl Deadline {
    /// A year at most: longer than any operation, shorter than a clock overflows.
    pub fn after(milliseconds: u64) -> Self {
        let most = Duration::from_secs(365 * 24 * 3600);
        Self::of(Duration::from_millis(milliseconds).min(most))
    }

    /// From now on.
    pub fn of(total: Duration) -> Self {
        Self {
            at: Instant::now() + total,
            total,
        }
    }

    pub fn is_over(self) -> bool {
        Instant::now() >= self.at
    }

    pub fn at(self) -> Instant {
        self.at
    }

    pub fn left(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    pub fn total(self) -> Duration {
        self.total
    }

    /// The time for one call.
    pub fn call(self) -> Duration {
        self.left().clamp(LEAST, MOST)
    }
}

/// The waits between polls.
#[derive(Debug)]
pub struct Pace(Duration);

impl Pace {
    pub fn new() -> Self {
        Self(FASTEST)
    }

    /// Something happened: more may soon.
    pub fn hurry(&mut self) {
        self.0 = FASTEST;
    }

    /// When the next poll is due.
    pub fn next(&self) -> Instant {
        Instant::now() + self.0
    }

    /// When the next poll is due; the one after it comes later.
    pub fn slower(&mut self) -> Instant {
        let next = self.next();
        self.0 = self.0.mul_f64(1.5).min(SLOWEST);
        next
    }

    /// Waits, but not beyond the deadline.
    pub async fn rest(&mut self, deadline: Deadline) {
        tokio::time::sleep_until(self.slower().min(deadline.at)).await;
    }
}
