//! Resources that are ready only when other objects are in some condition: `metadata.readyWhen`.
//!
//! A condition may be of any object, no matter who made it. So it is looked at, and not watched.

use std::time::Duration;

use common::api::deployer::ResourceState;
use common::api::error::ErrorCode;
use common::model::{ObjectRef, ReadyCheck};
use serde_json::Value;
use tokio::time::Instant;

use super::work::Work;
use super::{Run, Step};
use crate::apply::fetch;
use crate::kubectl::KubectlError;
use crate::plan::Wanted;

/// Conditions are looked at this often.
const EVERY: Duration = Duration::from_secs(1);

/// When conditions are looked at next.
pub(super) struct Conditions {
    next: Instant,
    is_busy: bool,
}

impl Conditions {
    pub(super) fn new() -> Self {
        Self {
            next: Instant::now(),
            is_busy: false,
        }
    }
}

/// A condition that was looked at: the resource, its place among the resource's conditions, and the object.
pub(super) type Look = (usize, usize, Result<Option<Value>, KubectlError>);

impl Run<'_> {
    /// Looks at the conditions of all resources that are applied and wait for some.
    pub(super) fn look_at_conditions(&mut self) {
        if self.conditions.is_busy || Instant::now() < self.conditions.next {
            return;
        }
        let (places, objects) = self.wanted_conditions();
        if places.is_empty() {
            return;
        }
        self.conditions.is_busy = true;
        let context = self.context;
        self.steps.push(Box::pin(async move {
            let mut looks: Vec<Look> = Vec::new();
            let mut found = |at: usize, outcome| {
                let (index, place): (usize, usize) = places[at];
                looks.push((index, place, outcome));
            };
            fetch::many(context, &objects, &mut found).await;
            Step::Conditions(looks)
        }));
    }

    /// The objects of all conditions that are waited for, each with its resource and its place there.
    fn wanted_conditions(&self) -> (Vec<(usize, usize)>, Vec<ObjectRef>) {
        let works = self.works.iter().enumerate();
        let waiting = works.filter(|(_, work)| work.state() == ResourceState::Applied);
        let mut wanted = (Vec::new(), Vec::new());
        for (index, work) in waiting {
            for (place, check) in work.conditions.iter().enumerate() {
                wanted.0.push((index, place));
                wanted.1.push(self.object_of(work, check));
            }
        }
        wanted
    }

    /// An object of a namespaced kind without a namespace is in that of the resource.
    fn object_of(&self, work: &Work, check: &ReadyCheck) -> ObjectRef {
        let wanted = Wanted {
            kind: check.kind.clone(),
            api_version: Some(check.api_version.clone()),
        };
        let kind = self.context.catalog.find(&wanted);
        let own = work.node.object.namespace.clone();
        let own = own.filter(|_| kind.is_ok_and(|kind| kind.namespaced));
        ObjectRef {
            api_version: check.api_version.clone(),
            kind: check.kind.clone(),
            namespace: check.namespace.clone().or(own),
            name: check.object.clone(),
        }
    }

    pub(super) fn looked_at_conditions(&mut self, looks: Vec<Look>) {
        self.conditions.is_busy = false;
        self.conditions.next = Instant::now() + EVERY;
        let mut looks = looks;
        // From the last to the first: those that hold are taken out.
        looks.sort_by_key(|(index, place, _)| std::cmp::Reverse((*index, *place)));
        for (index, place, outcome) in looks {
            let work = &mut self.works[index];
            let Some(check) = work.conditions.get(place) else {
                continue;
            };
            match unmet(check, outcome) {
                None => {
                    work.conditions.remove(place);
                    work.release();
                }
                Some(reason) if work.waited() < Duration::from_millis(check.timeout_ms) => {
                    work.hold(&reason);
                }
                Some(reason) => {
                    let reason =
                        format!("process timed out: failed to wait for condition: {reason}");
                    work.failed(ErrorCode::Timeout, &reason);
                }
            }
            self.settled(index);
        }
    }
}

/// Why a condition does not hold.
fn unmet(check: &ReadyCheck, outcome: Result<Option<Value>, KubectlError>) -> Option<String> {
    let ReadyCheck {
        name,
        api_version,
        kind,
        object,
        condition,
        status,
        ..
    } = check;
    let resource = format!("{name}: resource {api_version}/{kind} {object}");
    let live = match outcome {
        Ok(Some(live)) => live,
        Ok(None) => return Some(format!("{resource} does not exist")),
        Err(error) => return Some(format!("{resource} cannot be read: {error}")),
    };
    let Some(conditions) = live["status"]["conditions"].as_array() else {
        return Some(format!("{resource} contains no status conditions"));
    };
    let found = conditions.iter().find(|one| one["type"] == *condition);
    match found.map(|one| one["status"].as_str().unwrap_or_default()) {
        None => Some(format!("{resource} has no condition {condition}")),
        Some(found) if found == status => None,
        Some(found) => Some(format!(
            "{resource} condition {condition} is {found}, expected {status}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_condition_holds_when_its_status_is_the_expected_one() {
        let check: ReadyCheck = serde_json::from_value(json!({
            "name": "up", "apiVersion": "apps/v1", "kind": "Deployment", "object": "web",
            "type": "Available", "status": "True", "timeoutMs": 1,
        }))
        .unwrap();
        let with = |conditions: Value| Ok(Some(json!({"status": {"conditions": conditions}})));
        let cases = [
            (Ok(None), Some("does not exist")),
            (Ok(Some(json!({}))), Some("contains no status conditions")),
            (with(json!([])), Some("has no condition Available")),
            (
                with(json!([{"type": "Available", "status": "False"}])),
                Some("is False, expected True"),
            ),
            (with(json!([{"type": "Available", "status": "True"}])), None),
        ];
        for (outcome, expected) in cases {
            let found = unmet(&check, outcome);
            match (&found, expected) {
                (Some(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
                (found, expected) => assert_eq!(found.as_deref(), expected),
            }
        }
    }
}
