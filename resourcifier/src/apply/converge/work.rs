//! One resource with its phase, and how that is reported.

use std::time::Duration;

use common::api::deployer::{HookRun, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode};
use common::model::{AppliedObject, HookDeletePolicy, ReadyCheck};
use serde_json::Value;
use tokio::time::Instant;

use super::phase::{Event, Failure, Next, Pending, Phase, Reading, Way};
use crate::apply::cause::Causes;
use crate::apply::context::pace::PATIENCE;
use crate::apply::definitions;
use crate::apply::object::change;
use crate::apply::object::fault::fault;
use crate::kubectl::KubectlError;
use crate::plan::Node;

/// The cluster does not answer.
#[derive(Debug)]
struct Trouble {
    since: Instant,
    /// Reported once: errors of connections have their ports in them, and no two are the same.
    is_reported: bool,
}

impl Trouble {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            is_reported: false,
        }
    }
}

#[derive(Debug)]
pub struct Work {
    pub node: Node,
    /// The UID on record from an earlier apply.
    pub recorded: Option<String>,
    /// Whether others refer to its values.
    pub is_referenced: bool,
    pub final_properties: Option<Value>,
    /// Those of `readyWhen` that did not hold yet.
    pub conditions: Vec<ReadyCheck>,
    /// Whether only these conditions are missing.
    is_held: bool,
    applied_at: Option<Instant>,
    /// Whether the object is somebody else's, and is used as it is.
    is_foreign: bool,
    phase: Phase,
    trouble: Option<Trouble>,
    reported: Option<(ResourceState, Option<String>)>,
}

impl Work {
    pub fn new(node: Node, recorded: Option<String>) -> Self {
        Self {
            conditions: node.metadata.ready_when.clone(),
            is_held: false,
            applied_at: None,
            node,
            recorded,
            is_referenced: false,
            final_properties: None,
            is_foreign: false,
            phase: Phase::default(),
            trouble: None,
            reported: None,
        }
    }

    /// Takes in what happened.
    pub fn on(&mut self, event: Event) {
        if let Event::Written(_) | Event::Observed(_) = event {
            self.trouble = None;
        }
        if let Event::Read(reading) = &event {
            self.is_foreign = reading.way == Way::Foreign;
        }
        self.phase = std::mem::take(&mut self.phase).after(event);
        if self.is_in_cluster() {
            self.applied_at.get_or_insert_with(Instant::now);
        }
        self.is_held = !self.conditions.is_empty() && self.state() == ResourceState::Ready;
        if self.is_held {
            let names: Vec<_> = self
                .conditions
                .iter()
                .map(|one| one.name.as_str())
                .collect();
            let reason = format!("it waits for the condition {}", names.join(", "));
            self.phase.hold(&reason);
        }
        if !self.is_referenced {
            self.phase.forget_values();
        }
        if self.phase.action().is_some() {
            self.node.template = Value::Null;
        }
    }

    /// How long it has been applied.
    pub fn waited(&self) -> Duration {
        self.applied_at
            .map(|since| since.elapsed())
            .unwrap_or_default()
    }

    /// A condition does not hold, for this reason.
    pub fn hold(&mut self, reason: &str) {
        if self.is_held {
            self.phase.hold(reason);
        }
    }

    /// A condition holds: if it was the last one that was missing, the resource is ready.
    pub fn release(&mut self) {
        if self.is_held && self.conditions.is_empty() {
            self.is_held = false;
            self.phase.release();
            if !self.is_referenced {
                self.phase.forget_values();
            }
        }
    }

    pub fn state(&self) -> ResourceState {
        self.phase.state()
    }

    pub fn is_unfinished(&self) -> bool {
        matches!(
            self.state(),
            ResourceState::Pending | ResourceState::Applied
        )
    }

    pub fn is_in_cluster(&self) -> bool {
        matches!(self.state(), ResourceState::Applied | ResourceState::Ready)
    }

    pub fn has_failed(&self) -> bool {
        matches!(self.state(), ResourceState::Failed | ResourceState::Skipped)
    }

    pub fn is_unwell(&self) -> bool {
        self.phase.is_unwell()
    }

    /// The UID of the object since it was applied.
    pub fn uid(&self) -> Option<&str> {
        self.phase.uid()
    }

    /// The object since it was applied, as long as somebody may ask for more than its UID.
    pub fn live(&self) -> Option<&Value> {
        self.phase.live()
    }

    pub fn pending(&self) -> Option<&Pending> {
        self.phase.pending()
    }

    /// What it needs next; `None` once it is not pending any more.
    pub fn next(&self) -> Option<Next> {
        Some(self.pending()?.next(Instant::now()))
    }

    fn reading(&self) -> Option<&Reading> {
        self.pending()?.reading()
    }

    /// The object before it is applied.
    pub fn before(&self) -> Option<&Value> {
        self.pending()?.before()
    }

    /// Whether its object is deleted first, because it is a hook that runs again.
    pub fn is_renewed(&self) -> bool {
        self.reading().is_some_and(|read| read.way == Way::Renew)
    }

    /// Whether the deployment only begins to share its object.
    pub fn joins(&self) -> bool {
        self.reading().is_some_and(|read| read.way == Way::Join)
    }

    /// Whether applying would change nothing, as far as was read.
    pub fn is_unchanged(&self) -> bool {
        self.reading().is_some_and(|read| read.unchanged.is_some())
    }

    /// Whether deleting the object first may help; that is done once.
    pub fn may_be_made_anew(&self) -> bool {
        self.before().is_some() && !self.pending().is_some_and(Pending::was_deleted)
    }

    /// The resource whose value it waits for.
    pub fn awaits(&self) -> Option<usize> {
        self.pending()?.awaits()
    }

    /// Another writer was first. Whether it may try again at once.
    pub fn lost_race(&mut self) -> bool {
        self.on(Event::LostRace);
        self.pending().is_some_and(Pending::may_race_again)
    }

    pub fn waits_for(&mut self, reason: impl Into<String>) {
        self.on(Event::Waits {
            reason: reason.into(),
            on: None,
        });
    }

    /// Whether a state of the object is newer than the known one.
    pub fn is_news(&self, live: &Value) -> bool {
        let known = self.live().and_then(change::version);
        known.is_none() || change::version(live) > known
    }

    /// Whether how it looks may still change something.
    pub fn is_of_interest(&self) -> bool {
        self.state() == ResourceState::Applied
            || (self.state() == ResourceState::Ready && self.is_referenced)
    }

    /// It failed, and nothing more is tried.
    pub fn failed(&mut self, code: ErrorCode, reason: &str) {
        self.on(Event::Failed(Failure::new(code, reason)));
    }

    /// The time is over.
    pub fn too_late(&mut self, total: Duration, causes: Causes) {
        let state = match self.state() {
            ResourceState::Applied => "is not ready",
            _ => "could not be applied",
        };
        let reason = self.phase.reason();
        let reason = reason.unwrap_or("what it depends on is not ready");
        let text = format!("it {state} after {} s: {reason}", total.as_secs_f32());
        self.failed(ErrorCode::Timeout, &text);
        self.on(Event::Explained(causes));
    }

    /// The job ended before anything was done with it.
    pub fn not_begun(&mut self) {
        let reason = "the operation was stopped before it was applied";
        self.on(Event::Skipped(reason.to_owned()));
    }

    pub fn skipped(&mut self, because_of: &str, is_hook: bool) {
        let reason = match is_hook {
            true => format!("the hook {because_of} comes first, and has not succeeded"),
            false => format!("it depends on {because_of}, which is not there"),
        };
        self.on(Event::Skipped(reason));
    }

    /// The cluster does not answer for it: it waits, but not for ever.
    pub fn troubled(&mut self, error: &KubectlError) {
        let trouble = self.trouble.get_or_insert_with(Trouble::new);
        // That a call was cut off says less than what an earlier one said.
        let says_more =
            self.phase.reason().is_none() || !matches!(error, KubectlError::TimedOut { .. });
        if trouble.since.elapsed() >= PATIENCE {
            let text = format!("{error} (for {} s)", PATIENCE.as_secs());
            self.failed(error.code(), &text);
        } else if says_more && !trouble.is_reported {
            trouble.is_reported = true;
            self.waits_for(error.to_string());
        }
    }

    /// A report, if there is something new in it.
    pub fn news(&mut self) -> Option<ResourceReport> {
        let now = (self.state(), self.phase.reason().map(str::to_owned));
        if self.reported.as_ref() == Some(&now) {
            return None;
        }
        self.reported = Some(now);
        Some(self.report())
    }

    pub fn report(&self) -> ResourceReport {
        ResourceReport {
            name: self.node.resource.name.clone(),
            type_name: self.node.resource.type_name.clone(),
            object: Some(self.node.object.clone()),
            uid: self.uid().map(str::to_owned),
            action: self.phase.action(),
            state: self.state(),
            reason: self.phase.reason().map(str::to_owned),
            error: self.phase.failure().map(|failure| self.error(failure)),
            final_properties: self.final_properties.clone(),
            hook: self.hook_run(),
        }
    }

    /// The run of a hook, and whether its object is to go now. Definitions are never deleted.
    fn hook_run(&self) -> Option<HookRun> {
        let (run, hook) = (self.node.run.as_ref()?, self.node.metadata.hook.as_ref()?);
        let policy = match self.state() {
            ResourceState::Ready => Some(HookDeletePolicy::HookSucceeded),
            ResourceState::Failed => Some(HookDeletePolicy::HookFailed),
            _ => None,
        };
        let asks = policy.is_some_and(|policy| hook.has(policy));
        Some(HookRun {
            event: run.event,
            remove: asks && !definitions::is_definition(&self.node.object),
        })
    }

    /// A failure with the name of the resource.
    pub fn error(&self, failure: &Failure) -> ErrorBody {
        fault(&self.node, failure.code, &failure.reason).caused_by(failure.causes.clone())
    }

    /// The record of it, if there is something in the cluster that is the deployment's.
    pub fn record(&self) -> Option<AppliedObject> {
        if self.is_foreign {
            return None;
        }
        let uid = self.phase.uid_on_record();
        Some(AppliedObject {
            resource: self.node.resource.name.clone(),
            object: self.node.object.clone(),
            uid: uid.or_else(|| self.recorded.clone())?,
        })
    }
}
