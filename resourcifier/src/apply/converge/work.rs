//! One resource on its way: where it stands, and how that is told.

use std::time::Duration;

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::AppliedObject;
use serde_json::Value;
use tokio::time::Instant;

use crate::apply::cause::Causes;
use crate::apply::context::pace::PATIENCE;
use crate::apply::object::change;
use crate::apply::object::claim::Claim;
use crate::apply::object::fault::fault;
use crate::apply::readiness::{self, Readiness};
use crate::kubectl::KubectlError;
use crate::plan::Node;

/// So often it tries again at once where others write first; then it waits.
const RACES: usize = 8;

/// The cluster does not answer.
#[derive(Debug)]
struct Trouble {
    since: Instant,
    /// Told once: errors of connections have their ports in them, and no two are the same.
    is_told: bool,
}

impl Trouble {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            is_told: false,
        }
    }
}

#[derive(Debug)]
pub struct Work {
    pub node: Node,
    pub state: ResourceState,
    /// The object before it was applied, once it was looked for.
    pub before: Option<Option<Value>>,
    /// What the write may do to it, decided for that object.
    pub claim: Option<Claim>,
    /// Whether the object was there before the deployment.
    pub was_there: bool,
    /// When the object was looked for.
    pub looked: Instant,
    /// How often somebody else wrote first, one time after the other.
    races: usize,
    /// How ready the object is that applying would not change.
    pub unchanged: Option<Readiness>,
    /// The object since it was applied, as long as somebody may ask for more than its UID.
    pub live: Option<Value>,
    /// Whether it failed after it was applied.
    pub is_unwell: bool,
    /// Whether others refer to its values.
    pub is_referenced: bool,
    /// The resource whose value it waits for.
    pub awaits: Option<usize>,
    pub final_properties: Option<Value>,
    /// Set once the object was deleted to be made anew.
    pub replaced: bool,
    /// The UID on record from an earlier apply.
    pub recorded: Option<String>,
    /// The UID of the object since it was applied.
    uid: Option<String>,
    action: Option<Action>,
    reason: Option<String>,
    error: Option<ErrorBody>,
    /// Since when the cluster has not answered for it.
    trouble: Option<Trouble>,
    told: Option<(ResourceState, Option<String>)>,
}

impl Work {
    pub fn new(node: Node, recorded: Option<String>) -> Self {
        Self {
            node,
            state: ResourceState::Pending,
            before: None,
            claim: None,
            was_there: false,
            looked: Instant::now(),
            races: 0,
            unchanged: None,
            live: None,
            is_unwell: false,
            is_referenced: false,
            awaits: None,
            uid: None,
            final_properties: None,
            replaced: false,
            recorded,
            action: None,
            reason: None,
            error: None,
            trouble: None,
            told: None,
        }
    }

    pub fn is_unfinished(&self) -> bool {
        matches!(self.state, ResourceState::Pending | ResourceState::Applied)
    }

    pub fn is_in_cluster(&self) -> bool {
        matches!(self.state, ResourceState::Applied | ResourceState::Ready)
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.state, ResourceState::Failed | ResourceState::Skipped)
    }

    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    pub fn before(&self) -> Option<&Value> {
        self.before.as_ref()?.as_ref()
    }

    /// What was read of it does not count any more: it is looked for, and decided about, again.
    pub fn forget(&mut self) {
        (self.before, self.claim, self.unchanged) = (None, None, None);
    }

    /// Somebody else wrote first. Whether it may try again at once.
    pub fn lost_race(&mut self) -> bool {
        self.forget();
        self.races += 1;
        !self.races.is_multiple_of(RACES)
    }

    pub fn waits_for(&mut self, reason: impl Into<String>) {
        self.reason = Some(reason.into());
    }

    /// How ready the object is.
    pub fn readiness(live: &Value) -> Readiness {
        readiness::of(live)
    }

    /// It was found as it should be, so it counts as applied.
    pub fn found(&mut self, verdict: Readiness) {
        let live = self.before().cloned().unwrap_or_default();
        self.action = Some(Action::Unchanged);
        self.state = ResourceState::Applied;
        self.uid = change::uid(&live).map(str::to_owned);
        self.node.template = Value::Null;
        self.judged(live, verdict);
    }

    /// It was applied, with this outcome.
    pub fn applied(&mut self, live: Value) {
        self.action = Some(change::action(self.before(), &live));
        self.state = ResourceState::Applied;
        self.uid = change::uid(&live).map(str::to_owned);
        self.node.template = Value::Null;
        self.observed(live);
    }

    /// What it looks like now.
    pub fn observed(&mut self, live: Value) {
        self.trouble = None;
        let verdict = Self::readiness(&live);
        self.judged(change::without_managers(live), verdict);
    }

    /// What others say about it.
    pub fn concluded(&mut self, verdict: Readiness) {
        if let Some(live) = self.live.take() {
            self.judged(live, verdict);
        }
    }

    fn judged(&mut self, live: Value, verdict: Readiness) {
        match verdict {
            _ if self.state == ResourceState::Ready => {}
            Readiness::Ready => {
                self.state = ResourceState::Ready;
                self.reason = None;
                self.before = Some(None);
            }
            Readiness::Waiting(reason) => self.waits_for(reason),
            Readiness::Failed(reason) => {
                self.is_unwell = true;
                self.failed(ErrorCode::ResourcesFailed, &reason);
            }
        }
        let is_needed = self.is_referenced || self.state != ResourceState::Ready;
        self.live = is_needed.then_some(live);
    }

    /// Whether a state of the object is newer than the known one.
    pub fn is_news(&self, live: &Value) -> bool {
        let known = self.live.as_ref().and_then(change::version);
        known.is_none() || change::version(live) > known
    }

    /// Whether how it looks may still change something.
    pub fn is_of_interest(&self) -> bool {
        self.state == ResourceState::Applied
            || (self.state == ResourceState::Ready && self.is_referenced)
    }

    /// It failed, and nothing more is tried.
    pub fn failed(&mut self, code: ErrorCode, reason: &str) {
        self.failed_with(self.fault(code, reason));
    }

    pub fn failed_with(&mut self, fault: ErrorBody) {
        self.state = ResourceState::Failed;
        self.reason = None;
        self.error = Some(fault);
    }

    /// The time is over.
    pub fn too_late(&mut self, total: Duration, causes: Causes) {
        let state = match self.state {
            ResourceState::Applied => "is not ready",
            _ => "could not be applied",
        };
        let reason = self
            .reason
            .as_deref()
            .unwrap_or("what it depends on is not ready");
        let text = format!("it {state} after {} s: {reason}", total.as_secs_f32());
        self.failed(ErrorCode::Timeout, &text);
        self.explained(causes);
    }

    /// Why it failed, as far as that is known.
    pub fn explained(&mut self, causes: Causes) {
        let Some(error) = &mut self.error else {
            return;
        };
        if let Some(summary) = causes.summary.filter(|text| !error.message.contains(text)) {
            error.message =
                ErrorBody::new(error.code, format!("{}; {summary}", error.message)).message;
        }
        error.causes.extend(causes.details);
    }

    pub fn fault(&self, code: ErrorCode, reason: &str) -> ErrorBody {
        fault(&self.node, code, reason)
    }

    /// The job ended before anything was done with it.
    pub fn not_begun(&mut self) {
        self.state = ResourceState::Skipped;
        self.reason = Some("the operation was stopped before it was applied".to_owned());
    }

    pub fn skipped(&mut self, because_of: &str) {
        self.state = ResourceState::Skipped;
        self.reason = Some(format!("it depends on {because_of}, which is not there"));
    }

    /// The cluster does not answer for it: it waits, but not for ever.
    pub fn troubled(&mut self, error: &KubectlError) {
        let trouble = self.trouble.get_or_insert_with(Trouble::new);
        // That a call was cut off says less than what an earlier one said.
        let says_more = self.reason.is_none() || !matches!(error, KubectlError::TimedOut { .. });
        if trouble.since.elapsed() >= PATIENCE {
            let text = format!("{error} (for {} s)", PATIENCE.as_secs());
            self.failed(error.code(), &text);
        } else if says_more && !trouble.is_told {
            trouble.is_told = true;
            self.waits_for(error.to_string());
        }
    }

    /// A report, if there is something new to tell.
    pub fn news(&mut self) -> Option<ResourceReport> {
        let now = (self.state, self.reason.clone());
        if self.told.as_ref() == Some(&now) {
            return None;
        }
        self.told = Some(now);
        Some(self.report())
    }

    pub fn report(&self) -> ResourceReport {
        ResourceReport {
            name: self.node.resource.name.clone(),
            type_name: self.node.resource.type_name.clone(),
            object: Some(self.node.object.clone()),
            uid: self.uid.clone(),
            action: self.action,
            state: self.state,
            reason: self.reason.clone(),
            error: self.error.clone(),
            final_properties: self.final_properties.clone(),
        }
    }

    /// The record of it, if there is something in the cluster that is the deployment's.
    pub fn record(&self) -> Option<AppliedObject> {
        let is_ours = self.claim == Some(Claim::Update);
        let before = || self.before().filter(|_| is_ours).and_then(change::uid);
        let seen = self.uid().or_else(before);
        let uid = seen.or(self.recorded.as_deref())?.to_owned();
        Some(AppliedObject {
            resource: self.node.resource.name.clone(),
            object: self.node.object.clone(),
            uid,
        })
    }
}
