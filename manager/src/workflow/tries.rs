//! The tries of a job: each may write until it has ended, or until its last sign of life is older than the lease.

use std::time::Duration;

use tokio::time::Instant;

use super::step::Run;

/// The tries of a job, and until when those of them may write that have not ended for all that is known.
#[derive(Debug)]
pub struct Tries {
    open: Vec<Try>,
}

#[derive(Debug)]
struct Try {
    /// Absent: begun by an earlier process of the manager, so that nothing can be asked of it by its number.
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

    /// The last one may write for the lease. It counts from the beat, which was sent before it was read.
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

    /// When the last write of all of them is over; `None`: there is none any more.
    pub fn end(&self) -> Option<Instant> {
        self.open.iter().filter_map(|one| one.end).max()
    }
}
