//! The attempts of a job. Each may write until it has ended, or until its last sign of life is older than the lease.

use std::time::Duration;

use tokio::time::Instant;

use super::step::Run;

/// The attempts of a job, and until when those may write that are not known to have ended.
#[derive(Debug)]
pub struct Tries {
    open: Vec<Try>,
}

#[derive(Debug)]
struct Try {
    /// Absent: an earlier process of the manager began it, so its number is unknown.
    attempt: Option<u32>,
    /// Absent: it got no sign of life, so it writes nothing.
    end: Option<Instant>,
}

impl Tries {
    pub fn new(run: &Run<'_>) -> Self {
        let end = run.taken + run.dependencies.retry.lease;
        let carried = run.resumed.then_some(Try {
            attempt: None,
            end: Some(end),
        });
        Self {
            open: carried.into_iter().collect(),
        }
    }

    pub fn begin(&mut self, attempt: u32) {
        self.open.push(Try {
            attempt: Some(attempt),
            end: None,
        });
    }

    /// The last attempt may write for the lease, counted from when the beat was sent.
    pub fn renewed(&mut self, lease: Duration) {
        if let Some(last) = self.open.last_mut() {
            last.end = Some(Instant::now() + lease);
        }
    }

    pub fn last_ended(&mut self) {
        self.open.pop();
    }

    pub fn ended(&mut self, attempts: &[u32]) {
        self.open.retain(|one| {
            !one.attempt
                .is_some_and(|attempt| attempts.contains(&attempt))
        });
    }

    /// When the last possible write of all attempts is over. `None`: no attempt can write.
    pub fn end(&self) -> Option<Instant> {
        self.open.iter().filter_map(|one| one.end).max()
    }
}
