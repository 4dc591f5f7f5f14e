//! Decides whether a write is accepted. The decision is committed only if the store has not changed since it was read.

use common::api::error::ErrorCode;
use common::model::{Deployment, ManifestName};

use super::Writes;
use super::draft::Draft;
use super::refusals::{absent, busy, crowded, exists, never_applied, on_cluster, unapplied};
use crate::domain::deployment::service_binding;
use crate::domain::operation::intent::Intent;
use crate::error::Error;
use crate::service::deployments::missing;
use crate::service::writes::repeats::{Repeat, Repeats};
use crate::store::deployments::{self, Found, clusters};
use crate::store::{Changes, broker, manifests};
use crate::workflow::{self, OperationHandle};

/// How often a decision is repeated because the deployment changed meanwhile.
const DECISIONS: usize = 5;

impl Writes {
    /// Decides and commits, and repeats this if the deployment changed meanwhile. `committed` is the manifest of a
    /// commit.
    ///
    /// A create first takes it that there is no such deployment, because the commit finds that out anyway.
    pub(super) async fn accept(
        &self,
        draft: Draft,
        committed: Option<ManifestName>,
    ) -> Result<OperationHandle, Error> {
        let repeats = Repeats {
            store: &self.store,
            engine: &self.engine,
        };
        let mut decisions = 0;
        loop {
            let id = draft.operation()?;
            let is_read = decisions > 0 || draft.intent.new_deployment().is_none();
            let found = match is_read {
                true => deployments::find(&self.store, &draft.name).await?,
                false => None,
            };
            self.authorize(&draft, found.as_ref()).await?;
            let request = match repeats.look(&draft, committed.as_ref(), &id).await? {
                Repeat::Same(handle) => return Ok(handle),
                Repeat::New(request) => request,
            };
            if !self.engine.has_room() {
                return Err(crowded());
            }
            let found = match is_read {
                true => self.permitted(&draft, found, committed.as_ref()).await?,
                false => None,
            };
            if decisions == 0
                && let Err(exceeded) = self.within_quota(&draft).await
            {
                // That there is such a deployment already says more.
                if !is_read {
                    let found = deployments::find(&self.store, &draft.name).await?;
                    self.permitted(&draft, found, committed.as_ref()).await?;
                }
                return Err(exceeded);
            }
            let mut record = draft.record(id, found.as_ref(), committed.clone())?;
            let warning = self.past_broker(&draft).await?;
            record.operation.warnings.extend(warning);
            let mut changes = draft.changes();
            self.placed(&draft, &mut changes).await?;
            let accepted = self
                .engine
                .accept(
                    record,
                    &draft.input,
                    found.as_ref(),
                    request.as_ref(),
                    changes,
                )
                .await;
            match accepted {
                Err(error) if error.is_conflict() && decisions < DECISIONS => decisions += 1,
                Err(error) if error.is_conflict() => return Err(busy(&draft.name, None)),
                accepted => return Ok(accepted?),
            }
        }
    }

    /// Whether the caller may make the write and use its service account. Every step of the operation is authorized
    /// again.
    async fn authorize(&self, draft: &Draft, found: Option<&Found>) -> Result<(), Error> {
        let (intent, caller) = (&draft.intent, &draft.caller);
        let stored = found.map(|found| &found.deployment);
        let place = match intent.new_deployment() {
            Some(new) => Some(&new.namespace),
            None => stored.map(|stored| &stored.namespace),
        };
        // A missing deployment is reported by the code that reads it.
        let Some(namespace) = place else {
            return Ok(());
        };
        self.gate
            .within(caller, namespace, &draft.name, workflow::verb(intent))
            .await?;
        let account = stored.and_then(|stored| stored.service_account.as_ref());
        let account = intent.service_account(account);
        let (access, cluster) = (&self.gate.access, draft.cluster(found));
        access
            .acting(caller.identity.as_ref(), (&cluster, namespace), account)
            .await?;
        Ok(())
    }

    /// A new deployment has its cluster as it is now. An existing one stays on its own.
    async fn placed(&self, draft: &Draft, changes: &mut Changes) -> Result<(), Error> {
        let new = draft.intent.new_deployment().map(|new| &new.cluster);
        let Some(cluster) = new.filter(|cluster| !cluster.is_default()) else {
            return Ok(());
        };
        match clusters::find(&self.store, cluster).await? {
            Some(found) if !found.record.removing => {
                clusters::expect(changes, &found);
                Ok(())
            }
            Some(_) => Err(Error::invalid(&format!(
                "cluster '{cluster}' is being removed"
            ))),
            None => Err(Error::invalid(&format!(
                "there is no cluster '{cluster}'; dm clusters lists those that there are"
            ))),
        }
    }

    /// A warning about a change of a deployment that the service broker keeps records of.
    async fn past_broker(&self, draft: &Draft) -> Result<Option<String>, Error> {
        if draft.by_broker || draft.intent.new_deployment().is_some() {
            return Ok(None);
        }
        let environment = broker::environment(&self.store, &draft.name).await?;
        let what = match service_binding::is_one(&environment) {
            _ if environment.is_empty() => return Ok(None),
            true => "service binding",
            false => "service instance",
        };
        Ok(Some(format!(
            "deployment '{}' is a {what} of the service broker, which does not learn of this change; change and delete it with its platform, or with dm broker",
            draft.name
        )))
    }

    async fn within_quota(&self, draft: &Draft) -> Result<(), Error> {
        self.quota.check_size(&draft.input)?;
        match draft.intent.new_deployment() {
            Some(new) => self.quota.take(&new.namespace).await,
            None => Ok(()),
        }
    }

    /// The deployment of the write, if the write may be made now.
    async fn permitted(
        &self,
        draft: &Draft,
        found: Option<Found>,
        committed: Option<&ManifestName>,
    ) -> Result<Option<Found>, Error> {
        let holder = deployments::holder(&self.store, &draft.name).await?;
        let is_new = draft.intent.new_deployment().is_some();
        match found {
            // Checked first, so that a second create gets the operation of the first one at any time.
            _ if holder.is_some() => Err(busy(&draft.name, holder.as_ref())),
            Some(_) if is_new => Err(exists(&draft.name)),
            None if is_new => Ok(None),
            None => Err(missing(&draft.name)),
            Some(found) => {
                draft.precondition.check(&found.deployment)?;
                on_cluster(&found.deployment, draft.cluster.as_ref())?;
                self.check_manifest(draft, committed, &found.deployment)
                    .await?;
                Ok(Some(found))
            }
        }
    }

    /// Whether the manifest that the write names can be applied.
    async fn check_manifest(
        &self,
        draft: &Draft,
        committed: Option<&ManifestName>,
        deployment: &Deployment,
    ) -> Result<(), Error> {
        let wanted = match &draft.intent {
            // A preview is not yet a manifest of the deployment, and the rollback would delete it.
            Intent::Rollback { to } if deployment.preview.as_ref() == Some(to) => {
                return Err(never_applied(&draft.name, to));
            }
            Intent::Rollback { to } => to,
            Intent::Correct | Intent::Test => match &deployment.latest_manifest {
                Some(latest) => latest,
                None => return Err(unapplied(&draft.name)),
            },
            _ => match committed {
                Some(committed) => committed,
                None => return Ok(()),
            },
        };
        if manifests::head(&self.store, &draft.name, wanted)
            .await?
            .is_none()
        {
            return Err(absent(&draft.name, wanted));
        }
        match committed {
            Some(preview) => self.check_preview(deployment, preview).await,
            None => Ok(()),
        }
    }

    async fn check_preview(
        &self,
        deployment: &Deployment,
        manifest: &ManifestName,
    ) -> Result<(), Error> {
        let preview = manifests::preview(&self.store, &deployment.name, manifest).await?;
        let is_current = deployment.preview.as_ref() == Some(manifest);
        match preview {
            Some(preview) if is_current && preview.base == deployment.latest_manifest => Ok(()),
            _ => Err(Error::new(
                ErrorCode::PreconditionFailed,
                format!(
                    "'{manifest}' is not the current preview of deployment '{}'; preview again, or roll back to it if it was applied",
                    deployment.name
                ),
            )),
        }
    }
}
