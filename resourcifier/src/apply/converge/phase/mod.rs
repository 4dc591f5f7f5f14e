//! One resource on its way into the cluster: its events, and the phase after each.
//!
//! ```text
//!            ┌── Outdated, LostRace, Deleted ──┐
//!            ▼                                 │
//! Pending{not read} ──Read──► Pending{read} ───┴── Unchanged, Written ──► Applied ──Observed, Judged──► Ready
//!    │                            │                                          │                            │
//!    ├────────Skipped────────► Skipped                                       │                            │
//!    └────────────────────────────┴──────────────── Failed ──────────────────┴────────────────────────────┴──► Failed
//! ```
//!
//! `Skipped` and `Failed` are ends. An event that cannot follow a phase changes nothing, except that what was written
//! is never forgotten: the record must name every object that the deployment has in the cluster.
//!
//! Pure: it knows no calls and no clock.

mod failure;
mod pending;
mod written;

use common::api::deployer::{Action, ResourceState};
use serde_json::Value;

use crate::apply::cause::Causes;
use crate::apply::object::change;
use crate::apply::readiness::{self, Readiness};

pub use failure::Failure;
pub use pending::{Next, Pending, Reading, Way};
pub use written::Written;

/// What happened to a resource.
#[derive(Debug, Clone)]
pub enum Event {
    /// The object was read, and the deployment may write to it.
    Read(Reading),
    /// What was read does not count any more.
    Outdated,
    /// Another writer was first.
    LostRace,
    /// The object was deleted, to be made anew.
    Deleted,
    /// It cannot go on now, for this reason; `on` is the resource whose value it needs.
    Waits {
        reason: String,
        on: Option<usize>,
    },
    /// The object that was read is as it should be.
    Unchanged,
    /// The API server has written this object.
    Written(Value),
    /// The object that was written is like this now.
    Observed(Value),
    /// Other objects say how ready it is.
    Judged(Readiness),
    Failed(Failure),
    /// Why it has failed, as far as that is known.
    Explained(Causes),
    /// It is not applied, for this reason.
    Skipped(String),
}

/// Where a resource stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Not applied yet.
    Pending(Pending),
    /// In the cluster, and not ready, for this reason.
    Applied {
        object: Written,
        reason: Option<String>,
    },
    Ready {
        object: Written,
    },
    Failed {
        failure: Failure,
        /// What was written before.
        object: Option<Written>,
        /// The UID of an object of the deployment that was read and not written.
        seen: Option<String>,
        /// Whether the object itself, or others, said that it cannot become ready.
        is_unwell: bool,
    },
    Skipped {
        reason: String,
        /// As in `Failed`.
        seen: Option<String>,
    },
}

impl Default for Phase {
    fn default() -> Self {
        Self::Pending(Pending::default())
    }
}

impl Phase {
    /// The phase after an event. This is the whole state machine.
    pub fn after(self, event: Event) -> Self {
        use {Event as E, Phase as P};
        match (self, event) {
            (P::Pending(pending), E::Read(reading)) => P::Pending(pending.read(reading)),
            (P::Pending(pending), E::Outdated) => P::Pending(pending.unread()),
            (P::Pending(pending), E::LostRace) => P::Pending(pending.lost_race()),
            (P::Pending(pending), E::Deleted) => P::Pending(pending.deleted()),
            (P::Pending(pending), E::Waits { reason, on }) => {
                P::Pending(pending.waits_for(reason, on))
            }
            (P::Pending(pending), E::Unchanged) => unchanged(pending),
            (P::Pending(pending), E::Written(live)) => written(&pending, live),
            (P::Pending(pending), E::Failed(failure)) => failed(failure, None, pending.seen()),
            (P::Pending(pending), E::Skipped(reason)) => P::Skipped {
                reason,
                seen: pending.seen(),
            },
            (P::Applied { object, .. }, E::Waits { reason, .. }) => P::Applied {
                object,
                reason: Some(reason),
            },
            (P::Applied { object, .. }, E::Observed(live)) => {
                let verdict = readiness::of(&live);
                judged(object.now(live), verdict)
            }
            (P::Applied { object, .. }, E::Judged(verdict)) => judged(object, verdict),
            // What was ready counts as ready; others may refer to its new values.
            (P::Ready { object }, E::Observed(live)) => P::Ready {
                object: object.now(live),
            },
            (P::Applied { object, .. } | P::Ready { object }, E::Failed(failure)) => {
                failed(failure, Some(object), None)
            }
            (phase @ P::Failed { .. }, E::Explained(causes)) => phase.explained(causes),
            (phase @ (P::Failed { .. } | P::Skipped { .. }), E::Written(live)) => phase.left(&live),
            (phase, _) => phase,
        }
    }

    fn explained(mut self, causes: Causes) -> Self {
        if let Self::Failed { failure, .. } = &mut self {
            failure.explain(causes);
        }
        self
    }

    /// It was written after its end.
    fn left(mut self, live: &Value) -> Self {
        if let Self::Failed {
            seen, object: None, ..
        }
        | Self::Skipped { seen, .. } = &mut self
        {
            *seen = change::uid(live).map(str::to_owned);
        }
        self
    }

    /// What is ready waits for something else.
    pub fn hold(&mut self, reason: &str) {
        *self = match std::mem::take(self) {
            Self::Ready { object } | Self::Applied { object, .. } => Self::Applied {
                object,
                reason: Some(reason.to_owned()),
            },
            other => other,
        };
    }

    /// What was held is ready.
    pub fn release(&mut self) {
        *self = match std::mem::take(self) {
            Self::Applied { object, .. } => Self::Ready { object },
            other => other,
        };
    }

    /// Lets go of the values of an object that is ready.
    pub fn forget_values(&mut self) {
        if let Self::Ready { object } = self {
            object.live = None;
        }
    }

    /// The state for callers.
    pub fn state(&self) -> ResourceState {
        match self {
            Self::Pending(_) => ResourceState::Pending,
            Self::Applied { .. } => ResourceState::Applied,
            Self::Ready { .. } => ResourceState::Ready,
            Self::Failed { .. } => ResourceState::Failed,
            Self::Skipped { .. } => ResourceState::Skipped,
        }
    }

    /// What it waits for, or why it was skipped.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pending(pending) => pending.reason(),
            Self::Applied { reason, .. } => reason.as_deref(),
            Self::Skipped { reason, .. } => Some(reason),
            Self::Ready { .. } | Self::Failed { .. } => None,
        }
    }

    pub fn pending(&self) -> Option<&Pending> {
        match self {
            Self::Pending(pending) => Some(pending),
            _ => None,
        }
    }

    fn object(&self) -> Option<&Written> {
        match self {
            Self::Applied { object, .. } | Self::Ready { object } => Some(object),
            Self::Failed { object, .. } => object.as_ref(),
            Self::Pending(_) | Self::Skipped { .. } => None,
        }
    }

    /// What the write did; `None` before it.
    pub fn action(&self) -> Option<Action> {
        Some(self.object()?.action)
    }

    /// The object since it was applied, as long as somebody may ask for it.
    pub fn live(&self) -> Option<&Value> {
        self.object()?.live.as_ref()
    }

    /// The UID of the object since it was applied.
    pub fn uid(&self) -> Option<&str> {
        self.object()?.uid.as_deref()
    }

    /// The UID of what the deployment has in the cluster, as far as this run knows.
    pub fn uid_on_record(&self) -> Option<String> {
        let seen = match self {
            Self::Pending(pending) => pending.seen(),
            Self::Failed { seen, .. } | Self::Skipped { seen, .. } => seen.clone(),
            Self::Applied { .. } | Self::Ready { .. } => None,
        };
        self.uid().map(str::to_owned).or(seen)
    }

    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Whether the object itself, or others, said that it cannot become ready.
    pub fn is_unwell(&self) -> bool {
        matches!(
            self,
            Self::Failed {
                is_unwell: true,
                ..
            }
        )
    }
}

/// Nothing was written: the object that was read counts as applied.
fn unchanged(mut pending: Pending) -> Phase {
    let Some((live, verdict)) = pending.take_unchanged() else {
        return Phase::Pending(pending);
    };
    judged(Written::new(Action::Unchanged, live), verdict)
}

fn written(pending: &Pending, live: Value) -> Phase {
    let action = change::action(pending.before(), &live);
    let verdict = readiness::of(&live);
    judged(Written::new(action, live), verdict)
}

fn judged(object: Written, verdict: Readiness) -> Phase {
    match verdict {
        Readiness::Ready => Phase::Ready { object },
        Readiness::Waiting(reason) => Phase::Applied {
            object,
            reason: Some(reason),
        },
        Readiness::Failed(reason) => Phase::Failed {
            failure: Failure::of_resource(reason),
            object: Some(object),
            seen: None,
            is_unwell: true,
        },
    }
}

fn failed(failure: Failure, object: Option<Written>, seen: Option<String>) -> Phase {
    Phase::Failed {
        failure,
        object,
        seen,
        is_unwell: false,
    }
}

#[cfg(test)]
mod tests;
