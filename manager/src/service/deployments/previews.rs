//! What a write would do, and the stored preview that can be committed.

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::ApplyRequest;
use common::api::error::ErrorCode;
use common::api::manager::{Diff, DiffQuery, Expansion, UpdateDeployment};
use common::model::{
    ClusterName, Deployment, DeploymentName, DiffSummary, InputConfig, Manifest, ManifestName,
    Namespace,
};
use jiff::Timestamp;
use serde_json::Map;
use tokio::time::Instant;

use super::manifests::redacted;
use super::missing;
use crate::auth::{Caller, Verb};
use crate::deployer::Deployers;
use crate::domain::deployment::properties::{self, PropertyChange};
use crate::domain::manifest::resolution;
use crate::domain::redaction::Redaction;
use crate::domain::{deployment, manifest};
use crate::error::Error;
use crate::service::access::gate::Gate;
use crate::service::writes::asked::{self, Asked, Kind};
use crate::service::writes::{self, Source, busy, on_cluster};
use crate::store::operations::answers;
use crate::store::{Changes, Store, StoreError, broker, deployments, manifests};
use crate::workflow::expansion::choice::{self, Choice};
use crate::workflow::expansion::cluster::View;
use crate::workflow::expansion::{Expansions, Subject, redacting, values};
use crate::workflow::{Retry, diff, hooks};

pub struct Previews {
    pub store: Store,
    pub gate: Gate,
    pub expansions: Arc<Expansions>,
    pub deployers: Arc<dyn Deployers>,
    pub retry: Retry,
    pub operation_timeout: Duration,
}

impl Previews {
    /// The manifest that can be committed.
    pub async fn get(&self, name: &DeploymentName) -> Result<Manifest, Error> {
        let deployment = self.deployment(name).await?;
        let preview = deployment.preview.ok_or_else(|| no_preview(name))?;
        let found = redacted(&self.store, name, &preview).await?;
        // It may be committed or replaced between the reads.
        found.ok_or_else(|| no_preview(name))
    }

    /// Deletes the preview. A deployment that was only previewed stays, without resources.
    pub async fn delete(&self, name: &DeploymentName, asked: &Asked) -> Result<Deployment, Error> {
        asked.check(Kind::Other)?;
        let found = deployments::find(&self.store, name).await?;
        let found = found.ok_or_else(|| missing(name))?;
        asked.precondition.check(&found.deployment)?;
        let preview = found.deployment.preview.clone();
        let preview = preview.ok_or_else(|| no_preview(name))?;
        let mut changes = Changes::default();
        deployments::expect_free(&mut changes, name);
        deployments::expect(&mut changes, name, Some(&found));
        manifests::delete(&self.store, &mut changes, name, &preview).await?;
        let after = deployment::previewed(found.deployment, None);
        deployments::put(&mut changes, &after)?;
        answers::tagged(&after.fingerprint, &after)?;
        match self.store.commit(changes).await {
            Ok(()) => Ok(after),
            Err(error) if error.is_conflict() => Err(self.busy(name).await?),
            Err(error) => Err(error.into()),
        }
    }

    /// What an update would do now, or a create if the deployment does not exist.
    pub async fn diff(
        &self,
        name: DeploymentName,
        mut request: UpdateDeployment,
        query: &DiffQuery,
        caller: &Caller,
    ) -> Result<Diff, Error> {
        let timeout = asked::timeout(query.timeout_ms, self.operation_timeout)?;
        let deadline = Instant::now() + timeout;
        let found = deployments::get(&self.store, &name).await?;
        let namespace = namespace(found.as_ref(), query.namespace.clone())?;
        let cluster = request.cluster.take().or(query.cluster.clone());
        let cluster = place(found.as_ref(), cluster)?;
        self.gate
            .within(caller, &namespace, &name, Verb::Get)
            .await?;
        let chosen = request.service_account.clone();
        let stored = || {
            found
                .as_ref()
                .and_then(|found| found.service_account.clone())
        };
        let account = chosen.unwrap_or_else(stored);
        // The cluster is asked with the identity that the write would use.
        let identity = caller.identity.as_ref();
        let access = &self.gate.access;
        let acting = access
            .acting(identity, (&cluster, &namespace), account.as_ref())
            .await?;
        let mut subject = subject(&name, (&cluster, &namespace), caller)?;
        let latest = found
            .as_ref()
            .and_then(|found| found.latest_manifest.as_ref());
        let objects = deployments::objects(&self.store, &name).await?;
        subject.charts.clone_from(&objects.charts);
        subject.view = View::As(acting.clone());
        subject.values = values::kept(&self.store, &name, latest).await?;
        subject.broker = broker::environment(&self.store, &name).await?;
        let mut expansion = self
            .expansion(&subject, request, query.locked, deadline)
            .await?;
        let redaction = self.redaction(found.as_ref(), &mut expansion).await?;
        let request = ApplyRequest {
            namespace,
            hooks: (query.hooks != Some(false))
                .then(|| hooks::of_diff(&expansion.expanded_config.resources, &objects))
                .flatten(),
            predecessor: None,
            resources: expansion.expanded_config.resources,
            outputs: expansion.outputs,
            recorded: objects.recorded,
            policies: (&query.policies).into(),
            expected: Vec::new(),
            restore_acquired: false,
            allow_deletes: false,
            create_namespace: false,
            preflight: false,
            on_behalf_of: acting,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            fence: None,
            deployment: name,
        };
        let deployer = self.deployers.of(&cluster);
        let found = diff::diff(&*deployer, &self.retry, request, deadline).await;
        let found = found.map_err(|error| redaction.refusal(error))?;
        let hide = |redaction: &Redaction, diffs: &mut Vec<_>| redaction.diffs(diffs);
        let resources = redacting::redacted(&redaction, found.resources, hide).await;
        Ok(Diff {
            summary: DiffSummary::summarize(&resources),
            resources,
            warnings: expansion.warnings,
        })
    }

    /// The secrets of the expansion and of what is deployed.
    async fn redaction(
        &self,
        found: Option<&Deployment>,
        expansion: &mut Expansion,
    ) -> Result<Redaction, StoreError> {
        let mut secrets = std::mem::take(&mut expansion.secrets);
        if let Some(found) = found {
            secrets.extend(manifests::secrets_in_use(&self.store, found).await?);
        }
        Ok(redacting::prepared(secrets).await)
    }

    async fn expansion(
        &self,
        subject: &Subject,
        mut request: UpdateDeployment,
        locked: bool,
        deadline: Instant,
    ) -> Result<Expansion, Error> {
        match Source::of(&mut request)? {
            Source::Content(input) => self.expand(subject, input, locked, deadline).await,
            Source::Properties(change) => {
                let input = self.changed(&subject.deployment, &change).await?;
                self.expand(subject, input, true, deadline).await
            }
            Source::Manifest(_) if locked => Err(Error::new(
                ErrorCode::InvalidRequest,
                "locked goes with content: a manifest is compared as it was expanded",
            )),
            Source::Manifest(manifest) => self.stored(&subject.deployment, &manifest).await,
        }
    }

    /// The latest manifest's configuration with other properties.
    async fn changed(
        &self,
        name: &DeploymentName,
        change: &PropertyChange,
    ) -> Result<InputConfig, Error> {
        let latest = choice::latest(&self.store, name).await?;
        let latest = latest.ok_or_else(|| missing(name))?;
        let input = manifests::input(&self.store, name, &latest.manifest).await?;
        properties::changed(&input, change).map_err(|error| Error::invalid(&error))
    }

    async fn expand(
        &self,
        subject: &Subject,
        input: InputConfig,
        locked: bool,
        deadline: Instant,
    ) -> Result<Expansion, Error> {
        let name = &subject.deployment;
        let latest = choice::latest(&self.store, name).await?;
        let choice = match locked {
            true => Choice::Locked(choice::record(&self.store, name, latest.as_ref()).await?),
            false => Choice::Latest,
        };
        let expanded = self
            .expansions
            .expand(subject, input, &choice, deadline)
            .await?;
        let mut expansion = expanded.expansion;
        let before = latest.map(|latest| latest.resolved).unwrap_or_default();
        let changes = resolution::changes(&before, &expansion.resolved_types);
        expansion.warnings.extend(changes);
        Ok(expansion)
    }

    async fn stored(
        &self,
        name: &DeploymentName,
        manifest: &ManifestName,
    ) -> Result<Expansion, Error> {
        if manifests::head(&self.store, name, manifest)
            .await?
            .is_none()
        {
            let message = format!("deployment '{name}' has no manifest '{manifest}'");
            return Err(Error::new(ErrorCode::NotFound, message));
        }
        Ok(manifests::source(&self.store, name, manifest).await?.1)
    }

    async fn deployment(&self, name: &DeploymentName) -> Result<Deployment, Error> {
        let found = deployments::get(&self.store, name).await?;
        found.ok_or_else(|| missing(name))
    }

    async fn busy(&self, name: &DeploymentName) -> Result<Error, Error> {
        let holder = deployments::holder(&self.store, name).await?;
        Ok(busy(name, holder.as_ref()))
    }
}

/// What templates see of the deployment.
fn subject(
    name: &DeploymentName,
    (cluster, namespace): (&ClusterName, &Namespace),
    caller: &Caller,
) -> Result<Subject, Error> {
    let now = Timestamp::now();
    Ok(Subject {
        deployment: name.clone(),
        namespace: namespace.clone(),
        cluster: cluster.clone(),
        manifest: manifest::name(None, now).map_err(|error| Error::invalid(&error))?,
        user: caller.user().to_owned(),
        time: now,
        values: Vec::new(),
        seed: None,
        identity: caller.identity.clone(),
        broker: Map::new(),
        charts: Vec::new(),
        capabilities: None,
        view: View::None,
        looker: None,
    })
}

/// The cluster of the deployment, or of a new one.
fn place(found: Option<&Deployment>, asked: Option<ClusterName>) -> Result<ClusterName, Error> {
    match found {
        Some(found) => {
            on_cluster(found, asked.as_ref())?;
            Ok(found.cluster.clone())
        }
        None => Ok(asked.unwrap_or_default()),
    }
}

/// A deployment cannot move to another namespace, so a different one is a mistake.
fn namespace(found: Option<&Deployment>, asked: Option<Namespace>) -> Result<Namespace, Error> {
    let Some(found) = found else {
        return writes::namespace(asked);
    };
    match asked {
        Some(asked) if asked != found.namespace => Err(Error::new(
            ErrorCode::InvalidRequest,
            format!(
                "deployment '{}' is in namespace '{}', not '{asked}'",
                found.name, found.namespace
            ),
        )),
        _ => Ok(found.namespace.clone()),
    }
}

fn no_preview(name: &DeploymentName) -> Error {
    let message = format!("deployment '{name}' has no preview; make one with preview=true");
    Error::new(ErrorCode::NotFound, message)
}
