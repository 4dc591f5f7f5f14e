//! One run of one operation, as its steps see it.

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::ApplyRequest;
use common::api::error::{ErrorBody, ErrorCode};
use common::api::job::Fence;
use common::api::manager::Expansion;
use common::model::{
    AppliedObject, Deployment, DeploymentName, Identity, InputConfig, ManifestName, Namespace,
    OperationId, Output, Resource,
};
use common::work::{self, Size};
use tokio::time::Instant;

use super::{Dependencies, Failure, Goal};
use crate::deployer::Deployer;
use crate::domain::manifest::resolution::Recorded;
use crate::domain::operation::intent::Intent;
use crate::domain::place::Source;
use crate::domain::redaction::Redaction;
use crate::domain::{deployment, manifest};
use crate::store::operations::{self, OperationRecord};
use crate::store::{Changes, Store, StoreError, deployments, manifests};
use crate::workflow::authority;
use crate::workflow::engine::watch::OperationWatch;
use crate::workflow::expansion::redacting;
use crate::workflow::job::follow;

/// One run of one operation.
pub struct Run<'a> {
    pub dependencies: &'a Dependencies,
    pub record: &'a OperationRecord,
    pub watch: &'a OperationWatch,
    pub goal: &'a Goal,
    /// The identity for reads and writes in the cluster.
    pub acting: Option<Identity>,
    pub deadline: Instant,
    /// When this process took the operation over.
    pub taken: Instant,
    /// Whether an earlier process began the step, so that any part of its effects may exist.
    pub resumed: bool,
}

/// Where the configuration of an operation is.
enum Content<'a> {
    /// With the operation, which expands it.
    Operation,
    /// Nowhere: the deployment is to have no resources.
    Empty,
    Manifest(&'a ManifestName),
}

impl Run<'_> {
    pub fn store(&self) -> &Store {
        &self.dependencies.store
    }

    /// The deployer of the deployment's cluster.
    pub fn deployer(&self) -> Arc<dyn Deployer> {
        self.dependencies.deployers.of(&self.record.cluster)
    }

    pub fn id(&self) -> &OperationId {
        &self.record.operation.id
    }

    pub fn deployment(&self) -> &DeploymentName {
        &self.record.operation.deployment
    }

    /// The manifest that the operation makes or applies. Its name is chosen when the operation is accepted.
    pub fn manifest(&self) -> Result<&ManifestName, StoreError> {
        let manifest = self.goal.manifest.as_ref();
        manifest.ok_or_else(|| {
            StoreError::Missing(format!("the manifest's name of operation {}", self.id()))
        })
    }

    /// The time until the deadline.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The configuration and its expansion.
    pub async fn source(&self) -> Result<(InputConfig, Expansion), StoreError> {
        let store = self.store();
        match self.content()? {
            Content::Operation => Ok((
                operations::input(store, self.id()).await?,
                operations::expansion(store, self.id()).await?,
            )),
            Content::Empty => Ok(manifest::empty()),
            Content::Manifest(name) => manifests::source(store, self.deployment(), name).await,
        }
    }

    /// The template files of the expansion of [`Self::source`].
    pub async fn templates(&self) -> Result<Vec<Recorded>, StoreError> {
        match self.content()? {
            Content::Operation => operations::templates(self.store(), self.id()).await,
            Content::Empty => Ok(Vec::new()),
            Content::Manifest(name) => {
                manifests::templates(self.store(), self.deployment(), name).await
            }
        }
    }

    /// The secrets of the operation's manifest, and of those that the cluster may still have objects of.
    pub async fn redaction(&self) -> Result<Redaction, StoreError> {
        let (store, deployment) = (self.store(), self.deployment());
        let mut secrets = match self.content()? {
            Content::Operation => operations::secrets(store, self.id()).await?,
            Content::Empty => Vec::new(),
            Content::Manifest(name) => manifests::secrets(store, deployment, name).await?,
        };
        if let Some(found) = deployments::get(store, deployment).await? {
            secrets.extend(manifests::secrets_in_use(store, &found).await?);
        }
        Ok(redacting::prepared(secrets).await)
    }

    fn content(&self) -> Result<Content<'_>, StoreError> {
        Ok(match &self.goal.intent {
            Intent::Create(_) | Intent::Update(_) | Intent::Preview { .. } => Content::Operation,
            Intent::Delete { .. } => Content::Empty,
            Intent::Rollback { to } => Content::Manifest(to),
            Intent::Commit(_) | Intent::Correct | Intent::Test => {
                Content::Manifest(self.manifest()?)
            }
        })
    }

    /// Adds to an error that names resources where in the configuration they stand.
    pub async fn place(&self, error: &mut ErrorBody) -> Result<(), StoreError> {
        let (input, expansion) = self.source().await?;
        let (name, mut placed) = (self.deployment().clone(), error.clone());
        let size = Size::bytes(input.content.len());
        *error = work::sized(size, move || {
            Source::new(name.as_str(), &input.content, &expansion.layout).add_to(&mut placed);
            placed
        })
        .await;
        Ok(())
    }

    /// The namespace: the one that the deployment is created in, or the one it has.
    pub async fn namespace(&self) -> Result<Namespace, StoreError> {
        match self.goal.intent.new_deployment() {
            Some(new) => Ok(new.namespace.clone()),
            None => Ok(self.stored().await?.namespace),
        }
    }

    /// What the deployer gets to know about the deployment.
    pub fn request(
        &self,
        namespace: Namespace,
        resources: Vec<Resource>,
        outputs: Vec<Output>,
        recorded: Vec<AppliedObject>,
    ) -> ApplyRequest {
        ApplyRequest {
            deployment: self.deployment().clone(),
            namespace,
            resources,
            outputs,
            recorded,
            hooks: None,
            predecessor: None,
            policies: self.record.options.policies,
            expected: Vec::new(),
            allow_deletes: self.record.options.allow_deletes,
            create_namespace: false,
            preflight: false,
            restore_acquired: matches!(self.goal.intent, Intent::Rollback { .. }),
            on_behalf_of: self.acting.clone(),
            timeout_ms: follow::left_ms(self.deadline),
            fence: None,
        }
    }

    /// The failure of an operation that goes no further. A deployment in progress is marked as failed, any other stays
    /// as it is.
    pub async fn broken_off(&self, error: Box<ErrorBody>) -> Result<Failure, StoreError> {
        let found = deployments::get(self.store(), self.deployment()).await?;
        // A test changes nothing of the deployment.
        let latest = |found: &Deployment| {
            found.latest_manifest == self.goal.manifest && self.goal.intent != Intent::Test
        };
        let Some(found) = found.filter(latest) else {
            return Ok(Failure::clean(error));
        };
        let failed = deployment::failed_by(&self.goal.intent, found, &error);
        let mut changes = Changes::default();
        deployments::put(&mut changes, &failed)?;
        Ok(Failure {
            error,
            changes,
            deployment: Some(failed),
        })
    }

    /// A failure by a fault of the service or its store. No deployment stays in progress with nothing running.
    pub async fn at_fault(&self, error: &StoreError) -> Failure {
        let failure = Failure::internal(self.id(), error);
        match self.broken_off(failure.error.clone()).await {
            Ok(marked) => marked,
            // The deployment cannot be read either. The log has the first cause.
            Err(_) => failure,
        }
    }

    pub fn stop_error(&self) -> Box<ErrorBody> {
        let user = self.watch.stop_wish().map(|wish| wish.user);
        let message = format!(
            "operation {} was stopped by {}; what it had applied is kept and recorded: update or delete the deployment to go on",
            self.id(),
            user.as_deref().unwrap_or("somebody")
        );
        Box::new(ErrorBody::new(ErrorCode::OperationStopped, message))
    }

    /// Whether the caller is still permitted to do it.
    pub async fn authorized(&self) -> Result<(), Box<ErrorBody>> {
        match authority::of(self.dependencies, self.record, self.goal).await {
            Ok(authority) => authority.map(drop),
            Err(error) => Err(Failure::internal(self.id(), &error).error),
        }
    }

    /// The fence that the next job writes under.
    pub async fn fence(&self) -> Result<Fence, StoreError> {
        let missing = || StoreError::Missing(format!("the take of operation {}", self.id()));
        let take = self.record.take.clone().ok_or_else(missing)?;
        let attempt = self.watch.next_attempt();
        self.record_attempt(attempt).await?;
        Ok(Fence {
            store: take.store,
            number: take.number,
            attempt,
            lease_ms: u64::try_from(self.dependencies.retry.lease.as_millis()).unwrap_or(u64::MAX),
            operation: Some(self.id().clone()),
        })
    }

    /// The record names a step's first job before the step begins. It gets each further one here, before that begins.
    async fn record_attempt(&self, attempt: u32) -> Result<(), StoreError> {
        let mut record = self.record.clone();
        let attempts = record.attempts.as_mut().and_then(|all| all.last_mut());
        let Some(attempts) = attempts.filter(|attempts| attempts.last < attempt) else {
            return Ok(());
        };
        attempts.last = attempt;
        let mut changes = Changes::default();
        operations::put(&mut changes, &record)?;
        self.store().commit(changes).await
    }

    /// The deployment. An earlier step or operation must have stored it.
    pub async fn stored(&self) -> Result<Deployment, StoreError> {
        let found = deployments::get(self.store(), self.deployment()).await?;
        found.ok_or_else(|| StoreError::Missing(format!("deployment {}", self.deployment())))
    }
}
