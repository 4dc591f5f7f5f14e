//! Before anything is touched: every object is looked for, and the whole is refused if one may not be touched.

use std::collections::HashSet;

use common::api::error::{ErrorBody, ErrorCode};
use common::model::ObjectRef;
use serde_json::Value;
use tokio::time::Instant;

use super::Run;
use super::work::Work;
use crate::apply::checks::permissions::{self, Need, Verb};
use crate::apply::context::Stopped;
use crate::apply::object::acquired::{self, Taken};
use crate::apply::object::claim::{self, Claim};
use crate::apply::object::{change, unchanged};
use crate::apply::readiness::Readiness;
use crate::apply::{definitions, fetch};
use crate::kubectl::{KubectlError, ObjectFault};

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
            outcome => faults.extend(self.checked(indices[place], outcome).err()),
        };
        fetch::many(context, &objects, &mut found).await;
        if let Some(error) = trouble {
            return Err(ErrorBody::from(error).into());
        }
        for work in self.works.iter().filter(|work| work.unchanged.is_none()) {
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
            // Readable by now, or nothing answers such questions.
            for (index, error) in unreadable {
                faults.extend(self.checked(index, Err(error)).err());
            }
        } else if faults.is_empty() {
            return Err(permissions::refusal(context, &lacking, missing).into());
        }
        faults.extend(missing);
        refuse(faults).map_err(Stopped::Refused)
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
                _ if work.unchanged.is_some() || self.may_be_granted(index) => &[],
                (true, _) => &[Verb::Get, Verb::Patch],
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
    ) -> Result<(), ErrorBody> {
        let work = &mut self.works[index];
        let live = outcome
            .map_err(|error| work.fault(error.code(), &format!("it cannot be read: {error}")))?;
        let recorded = work.recorded.as_deref();
        let standing = claim::standing(live.as_ref(), self.context.deployment, recorded);
        let policy = work.node.metadata.create_policy;
        let claim = claim::claim(standing, policy, work.replaced);
        let claim = claim
            .map_err(|refusal| work.fault(ErrorCode::ResourcesFailed, &refusal.to_string()))?;
        (work.claim, work.looked) = (Some(claim), Instant::now());
        work.was_there |= claim == Claim::Acquire
            || (claim == Claim::Update && live.as_ref().and_then(Taken::read).is_some());
        let is_unchanged = |live: &&Value| {
            claim == Claim::Update
                && work.node.references.is_empty()
                && !change::is_terminating(live)
                && {
                    let asked = acquired::carried(&work.node.template, Some(live));
                    unchanged::is_unchanged(&asked, live, &self.manager)
                }
        };
        work.unchanged = live.as_ref().filter(is_unchanged).map(Work::readiness);
        // Of what is ready and stays as it is, nobody asks for more.
        let is_settled = work.unchanged == Some(Readiness::Ready) && !work.is_referenced;
        work.before = Some(live.map(|live| match is_settled {
            true => change::identity(&live),
            false => change::without_managers(live),
        }));
        Ok(())
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
