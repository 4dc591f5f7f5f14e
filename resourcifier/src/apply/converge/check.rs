//! Before anything is touched: every object is looked for, and the whole is refused if one may not be touched.

use std::collections::HashSet;

use common::api::error::ErrorBody;
use common::model::ObjectRef;
use serde_json::Value;
use tokio::time::Instant;

use super::Run;
use super::phase::{Event, Failure, Pending, Reading, Way};
use crate::apply::checks::permissions::{self, Need, Verb};
use crate::apply::context::Stopped;
use crate::apply::object::acquired::{self, Taken};
use crate::apply::object::claim::{self, Claim};
use crate::apply::object::{change, unchanged};
use crate::apply::readiness::{self, Readiness};
use crate::apply::{definitions, fetch};
use crate::kubectl::{KubectlError, ObjectFault};
use crate::plan::Node;

impl Run<'_> {
    /// `removal` is what it takes to remove what is not desired any more.
    pub(super) async fn check(&mut self, removal: Vec<Need>) -> Result<(), Stopped> {
        let context = self.context;
        context.gate.check()?;
        let is_served = |index: &usize| {
            let object = &self.works[*index].node.object;
            self.context.catalog.current(object).is_some()
        };
        let indices: Vec<usize> = (0..self.works.len()).filter(is_served).collect();
        let objects: Vec<ObjectRef> = indices
            .iter()
            .map(|&index| self.works[index].node.object.clone())
            .collect();
        let (mut faults, mut trouble) = (Vec::new(), None);
        let mut unreadable = Vec::new();
        let mut found = |place: usize, outcome: Result<_, KubectlError>| match outcome {
            Err(error) if error.is_transient() => trouble = Some(error),
            Err(error) if error.fault() == Some(ObjectFault::Forbidden) => {
                unreadable.push((indices[place], error));
            }
            outcome => faults.extend(self.fault(indices[place], outcome)),
        };
        fetch::many(context, &objects, &mut found).await;
        if let Some(error) = trouble {
            return Err(ErrorBody::from(error).into());
        }
        for work in self.works.iter().filter(|work| !work.is_unchanged()) {
            faults.extend(definitions::fault(context, &work.node, work.before()).await);
        }
        // Those are looked for when their turn comes.
        unreadable.retain(|(index, _)| !self.may_be_granted(*index));
        let mut needs = self.needs(&unreadable);
        needs.extend(removal);
        let lacking = permissions::lacking(context, &needs)
            .await
            .map_err(ErrorBody::from)?;
        let missing = permissions::faults(context, &needs, &lacking);
        if missing.is_empty() {
            // It is readable now, or nothing answers such requests.
            for (index, error) in unreadable {
                faults.extend(self.fault(index, Err(error)));
            }
        } else if faults.is_empty() {
            return Err(permissions::refusal(context, &lacking, missing).into());
        }
        faults.extend(missing);
        refuse(faults).map_err(Stopped::Refused)
    }

    /// Takes it in, or says why it may not be touched.
    fn fault(
        &mut self,
        index: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) -> Option<ErrorBody> {
        let failure = self.checked(index, outcome).err()?;
        Some(self.works[index].error(&failure))
    }

    /// Whether what the caller may not do with it now may be granted by the plan itself, on its way.
    pub(super) fn may_be_granted(&self, index: usize) -> bool {
        self.grants.may_reach(&self.works[index].node.object)
    }

    /// What the caller must be allowed to do for all of it, by what is there now.
    fn needs(&self, unreadable: &[(usize, KubectlError)]) -> Vec<Need> {
        let unreadable = unreadable.iter().map(|(index, _)| *index);
        let unreadable: HashSet<usize> = unreadable.collect();
        let needs = self.works.iter().enumerate().map(|(index, work)| {
            let is_there = work
                .before()
                .is_some_and(|live| !change::is_terminating(live));
            let verbs: &[Verb] = match (unreadable.contains(&index), is_there) {
                _ if work.is_unchanged() || self.may_be_granted(index) => &[],
                (true, _) => &[Verb::Get, Verb::Patch],
                _ if work.is_renewed() => &[Verb::Delete, Verb::Patch, Verb::Create],
                (false, true) => &[Verb::Patch],
                // Server-side apply is a patch that creates.
                (false, false) => &[Verb::Get, Verb::Patch, Verb::Create],
            };
            Need::all(&work.node.resource.name, &work.node.object, verbs)
        });
        needs.flatten().collect()
    }

    /// Takes in how the object is before it is applied.
    pub(super) fn checked(
        &mut self,
        index: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) -> Result<(), Failure> {
        let reading = self.reading(index, outcome)?;
        self.works[index].on(Event::Read(reading));
        Ok(())
    }

    fn reading(
        &self,
        index: usize,
        outcome: Result<Option<Value>, KubectlError>,
    ) -> Result<Reading, Failure> {
        let work = &self.works[index];
        let live = outcome
            .map_err(|error| Failure::new(error.code(), format!("it cannot be read: {error}")))?;
        if work.node.is_observed {
            return Self::observed(live);
        }
        if let Some(run) = &work.node.run {
            return self.hook(index, run, live);
        }
        if work.node.metadata.is_shared() {
            return self.shared(index, live);
        }
        let recorded = work.recorded.as_deref();
        let standing = claim::standing(live.as_ref(), self.context.deployment, recorded);
        let policy = work.node.metadata.create_policy;
        let was_deleted = work.pending().is_some_and(Pending::was_deleted);
        let claim = claim::claim(standing, policy, was_deleted)
            .map_err(|refusal| Failure::of_resource(refusal.to_string()))?;
        let was_taken = || live.as_ref().and_then(Taken::read).is_some();
        let unchanged = live
            .as_ref()
            .filter(|live| claim == Claim::Update && self.is_unchanged(&work.node, live));
        let unchanged = unchanged.map(readiness::of);
        Ok(Reading {
            claim,
            was_there: claim == Claim::Acquire || (claim == Claim::Update && was_taken()),
            way: Way::Apply,
            // Of what is ready and stays as it is, nobody asks for more.
            before: match unchanged == Some(Readiness::Ready) && !work.is_referenced {
                true => live.as_ref().map(change::identity),
                false => live.map(change::without_managers),
            },
            unchanged,
            at: Instant::now(),
        })
    }

    /// Whether applying would change nothing.
    fn is_unchanged(&self, node: &Node, live: &Value) -> bool {
        node.references.is_empty() && !change::is_terminating(live) && {
            let asked = acquired::carried(&node.template, Some(live));
            unchanged::is_unchanged(&asked, live, &self.manager)
        }
    }
}

/// The faults found before anything was applied, as one.
fn refuse(mut faults: Vec<ErrorBody>) -> Result<(), ErrorBody> {
    match faults.len() {
        0 => Ok(()),
        1 => Err(faults.remove(0)),
        count => {
            let message = format!(
                "{count} objects cannot be applied, so nothing was; the first: {}",
                faults[0].message
            );
            Err(ErrorBody::new(faults[0].code, message).caused_by(faults))
        }
    }
}
