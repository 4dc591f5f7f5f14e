//! The attempts of a job. Each may write until it has ended, or until its last sign of life is older than the lease.

use std::time::Duration;

use tokio::time::Instant;

use crate::store::operations::fences::Attempts;
use crate::workflow::step::Run;

/// The attempts of a job, and until when those may write that are not known to have ended.
#[derive(Debug)]
pub struct Tries {
    open: Vec<Try>,
}

/// The numbers of a take and of its attempt.
pub type Attempt = (u64, u32);

#[derive(Debug)]
struct Try {
    /// Absent: an earlier build of the manager began it, so its number is unknown.
    attempt: Option<Attempt>,
    /// Absent: it got no sign of life, so it writes nothing.
    end: Option<Instant>,
}

impl Tries {
    pub fn new(run: &Run<'_>) -> Self {
        let end = Some(run.taken + run.dependencies.retry.lease);
        let open = |attempt| Try { attempt, end };
        Self {
            open: match run.resumed {
                true => carried(run).into_iter().map(open).collect(),
                false => Vec::new(),
            },
        }
    }

    pub fn begin(&mut self, attempt: Attempt) {
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

    pub fn ended(&mut self, attempts: &[Attempt]) {
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

/// What earlier processes of the manager have begun in this step.
fn carried(run: &Run<'_>) -> Vec<Option<Attempt>> {
    let Some(recorded) = &run.record.attempts else {
        return vec![None];
    };
    let number = run.record.take.as_ref().map(|take| take.number);
    let earlier = recorded.iter().filter(|of| Some(of.number) != number);
    let each = |of: &Attempts| {
        let number = of.number;
        (of.first..=of.last).map(move |attempt| Some((number, attempt)))
    };
    earlier.flat_map(each).collect()
}
