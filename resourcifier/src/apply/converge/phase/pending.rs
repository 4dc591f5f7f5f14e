//! A resource that is not applied yet: what was read of its object, and what that leads to.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::apply::object::change;
use crate::apply::object::claim::Claim;
use crate::apply::readiness::Readiness;

/// How long it counts that applying would change nothing; then the object is read again.
const FRESH: Duration = Duration::from_secs(5);
/// So many lost races are tried again at once, one after the other; then it waits.
const RACES: usize = 8;

/// An object before it is written, and what was decided for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// `None` if there is no object.
    pub before: Option<Value>,
    /// What the write may do to it.
    pub claim: Claim,
    /// Whether the object was there before the deployment.
    pub was_there: bool,
    pub way: Way,
    /// How ready the object is that applying would not change.
    pub unchanged: Option<Readiness>,
    pub at: Instant,
}

/// How the object becomes what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Apply,
    /// It is deleted first, because a hook runs again.
    Renew,
    /// Only the annotation is added that says that the deployment shares it.
    Join,
    /// It is somebody else's, and is used as it is.
    Foreign,
}

/// What a pending resource needs next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Its object has to be read.
    Read,
    /// Its object has to be gone first; the reason says what holds it.
    Wait(String),
    /// Its object has to be deleted.
    Delete,
    /// Its object is as it should be.
    Nothing,
    Write,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pending {
    reading: Option<Reading>,
    reason: Option<String>,
    awaits: Option<usize>,
    was_there: bool,
    was_deleted: bool,
    races: usize,
}

impl Pending {
    pub fn read(self, reading: Reading) -> Self {
        Self {
            was_there: self.was_there || reading.was_there,
            reading: Some(reading),
            ..self
        }
    }

    pub fn unread(self) -> Self {
        Self {
            reading: None,
            ..self
        }
    }

    pub fn lost_race(self) -> Self {
        Self {
            races: self.races + 1,
            ..self.unread()
        }
    }

    pub fn deleted(self) -> Self {
        Self {
            was_deleted: true,
            ..self.unread()
        }
    }

    pub fn waits_for(self, reason: String, on: Option<usize>) -> Self {
        Self {
            reason: Some(reason),
            awaits: on.or(self.awaits),
            ..self
        }
    }

    pub fn next(&self, now: Instant) -> Next {
        let Some(reading) = &self.reading else {
            return Next::Read;
        };
        let before = reading.before.as_ref();
        if let Some(before) = before.filter(|before| change::is_terminating(before)) {
            let held = change::finalizers(before).join(", ");
            return Next::Wait(format!(
                "the object of before is being deleted; finalizers: [{held}]"
            ));
        }
        match &reading.unchanged {
            None if reading.way == Way::Renew => Next::Delete,
            None => Next::Write,
            Some(_) if now.duration_since(reading.at) > FRESH => Next::Read,
            Some(_) => Next::Nothing,
        }
    }

    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }

    /// The object before it is written, if it was read and is there.
    pub fn before(&self) -> Option<&Value> {
        self.reading.as_ref()?.before.as_ref()
    }

    pub fn take_unchanged(&mut self) -> Option<(Value, Readiness)> {
        let reading = self.reading.as_mut()?;
        let verdict = reading.unchanged.take()?;
        Some((reading.before.take().unwrap_or_default(), verdict))
    }

    /// The UID of the deployment's own object, if that was read.
    pub fn seen(&self) -> Option<String> {
        let reading = self.reading.as_ref()?;
        let own = reading.before.as_ref();
        let own = own.filter(|_| reading.claim == Claim::Update);
        own.and_then(change::uid).map(str::to_owned)
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The resource whose value it waits for.
    pub fn awaits(&self) -> Option<usize> {
        self.awaits
    }

    /// Whether the object was there before the deployment, at any time.
    pub fn was_there(&self) -> bool {
        self.was_there
    }

    /// Whether the object was deleted to be made anew.
    pub fn was_deleted(&self) -> bool {
        self.was_deleted
    }

    /// Whether it may try again at once after a lost race.
    pub fn may_race_again(&self) -> bool {
        !self.races.is_multiple_of(RACES)
    }
}
