//! One resource on its way: where it stands, and how that is told.

use common::api::deployer::{Action, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::AppliedObject;
use serde_json::Value;
use tokio::time::Instant;

use super::change;
use super::pace::PATIENCE;
use super::readiness::{self, Readiness};
use crate::plan::Node;

/// An error about one resource.
pub fn fault(node: &Node, code: ErrorCode, reason: &str) -> ErrorBody {
    let location = Location {
        resource: Some(node.resource.name.to_string()),
        ..Location::default()
    };
    let message = format!(
        "resource {} ({}): {reason}",
        node.resource.name, node.object
    );
    ErrorBody::new(code, message).at(location)
}

#[derive(Debug)]
pub struct Work {
    pub node: Node,
    pub state: ResourceState,
    /// The object before it was applied, once it was looked for.
    pub before: Option<Option<Value>>,
    /// The object since it was applied.
    pub live: Option<Value>,
    pub final_properties: Option<Value>,
    /// Set once the object was deleted to be made anew.
    pub replaced: bool,
    /// The UID on record from an earlier apply.
    pub recorded: Option<String>,
    action: Option<Action>,
    reason: Option<String>,
    error: Option<ErrorBody>,
    /// Since when the cluster has not answered for it.
    trouble: Option<Instant>,
    told: Option<(ResourceState, Option<String>)>,
}

impl Work {
    pub fn new(node: Node, recorded: Option<String>) -> Self {
        Self {
            node,
            state: ResourceState::Pending,
            before: None,
            live: None,
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

    pub fn before(&self) -> Option<&Value> {
        self.before.as_ref()?.as_ref()
    }

    pub fn waits_for(&mut self, reason: impl Into<String>) {
        self.reason = Some(reason.into());
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// It was applied, with this outcome.
    pub fn applied(&mut self, live: Value) {
        self.action = Some(change::action(self.before(), &live));
        self.state = ResourceState::Applied;
        self.observed(live);
    }

    /// What it looks like now.
    pub fn observed(&mut self, live: Value) {
        self.trouble = None;
        let verdict = readiness::of(&live);
        self.live = Some(live);
        if self.state == ResourceState::Ready {
            return;
        }
        match verdict {
            Readiness::Ready => {
                self.state = ResourceState::Ready;
                self.reason = None;
            }
            Readiness::Waiting(reason) => self.waits_for(reason),
            Readiness::Failed(reason) => self.failed(ErrorCode::ResourcesFailed, &reason),
        }
    }

    /// It failed, and nothing more is tried.
    pub fn failed(&mut self, code: ErrorCode, reason: &str) {
        self.state = ResourceState::Failed;
        self.reason = None;
        self.error = Some(self.fault(code, reason));
    }

    pub fn fault(&self, code: ErrorCode, reason: &str) -> ErrorBody {
        fault(&self.node, code, reason)
    }

    pub fn skipped(&mut self, because_of: &str) {
        self.state = ResourceState::Skipped;
        self.reason = Some(format!("it depends on {because_of}, which is not there"));
    }

    /// The cluster does not answer for it: it waits, but not for ever.
    pub fn troubled(&mut self, code: ErrorCode, reason: &str) {
        let since = *self.trouble.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            self.failed(code, &format!("{reason} (for {} s)", PATIENCE.as_secs()));
        } else {
            self.waits_for(reason);
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
            uid: self.live.as_ref().and_then(change::uid).map(str::to_owned),
            action: self.action,
            state: self.state,
            reason: self.reason.clone(),
            error: self.error.clone(),
            final_properties: self.final_properties.clone(),
        }
    }

    /// The record of it, if there is something in the cluster that is the deployment's.
    pub fn record(&self, deployment: &str) -> Option<AppliedObject> {
        let ours = |before: &&Value| change::owner(before) == Some(deployment);
        let seen = self
            .live
            .as_ref()
            .or_else(|| self.before().filter(ours))
            .and_then(change::uid);
        let uid = seen.or(self.recorded.as_deref())?.to_owned();
        Some(AppliedObject {
            resource: self.node.resource.name.clone(),
            object: self.node.object.clone(),
            uid,
        })
    }
}
