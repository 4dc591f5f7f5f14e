//! Resources that are not simply applied: hooks run, shared objects have no owner, and some are only looked at.

use common::api::error::ErrorCode;
use common::model::HookDeletePolicy;
use serde_json::Value;
use tokio::time::Instant;

use super::Run;
use super::phase::{Failure, Reading, Way};
use crate::apply::definitions::shared::{self, Sharing};
use crate::apply::object::change;
use crate::apply::object::claim::{self, Claim, Refusal, Standing};
use crate::apply::readiness::{self, Readiness};
use crate::plan::{self, hooks};

/// A reading that asks for nothing.
fn reading(claim: Claim, before: Option<Value>) -> Reading {
    Reading {
        before,
        claim,
        was_there: false,
        way: Way::Apply,
        unchanged: None,
        at: Instant::now(),
    }
}

impl Run<'_> {
    /// A resource that others refer to, and that the operation leaves as it is.
    pub(super) fn observed(live: Option<Value>) -> Result<Reading, Failure> {
        let Some(live) = live else {
            let reason = "it does not exist, but hooks refer to it";
            return Err(Failure::new(ErrorCode::ResourcesFailed, reason));
        };
        Ok(Reading {
            unchanged: Some(Readiness::Ready),
            ..reading(Claim::Update, Some(change::without_managers(live)))
        })
    }

    /// A hook. Its object is of this run, or has to go first.
    pub(super) fn hook(
        &self,
        index: usize,
        run: &hooks::Run,
        live: Option<Value>,
    ) -> Result<Reading, Failure> {
        let work = &self.works[index];
        let Some(live) = live else {
            return Ok(reading(Claim::Create, None));
        };
        let recorded = work.recorded.as_deref();
        let standing = claim::standing(Some(&live), self.context.deployment, recorded);
        if let Standing::Others(owner) = standing {
            return Err(Failure::of_resource(Refusal::OfAnother(owner).to_string()));
        }
        let is_ours = standing == Standing::Ours;
        let live = change::without_managers(live);
        if is_ours && change::hook_run(&live) == Some(run.id.as_str()) {
            return Ok(Reading {
                unchanged: Some(readiness::of(&live)),
                ..reading(Claim::Update, Some(live))
            });
        }
        if !is_ours && !change::is_hook(&live) {
            let reason = "an object of its name exists already, and it is not a hook; delete it, or give one of them another name";
            return Err(Failure::of_resource(reason.to_owned()));
        }
        let hook = work.node.metadata.hook.as_ref();
        let may_go = hook.is_some_and(|hook| hook.has(HookDeletePolicy::BeforeHookCreation));
        match may_go {
            true => Ok(Reading {
                way: Way::Renew,
                ..reading(Claim::Update, Some(live))
            }),
            false => Err(Failure::of_resource(
                "its object of an earlier run is still there, and its delete policies do not have before-hook-creation; delete the object, or add the policy"
                    .to_owned(),
            )),
        }
    }

    /// An object that deployments share.
    pub(super) fn shared(&self, index: usize, live: Option<Value>) -> Result<Reading, Failure> {
        let work = &self.works[index];
        let sharing = shared::sharing(live.as_ref(), &work.node, self.context.deployment);
        let sharing = sharing.map_err(Failure::of_resource)?;
        let claim = match live {
            None => Claim::Create,
            Some(_) => Claim::Update,
        };
        let live = live.map(change::without_managers);
        let unchanged = || live.as_ref().map(readiness::of);
        let (way, unchanged) = match sharing {
            Sharing::Write => (Way::Apply, None),
            Sharing::Join => (Way::Join, None),
            Sharing::Unchanged => (Way::Apply, unchanged()),
            Sharing::Foreign => (Way::Foreign, unchanged()),
        };
        Ok(Reading {
            way,
            unchanged,
            ..reading(claim, live)
        })
    }
}

/// The field manager that applies the resource.
pub fn manager<'a>(node: &plan::Node, own: &'a str) -> &'a str {
    match node.metadata.is_shared() {
        true => plan::SHARED_MANAGER,
        false => own,
    }
}
