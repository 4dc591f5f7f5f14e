//! Starting the operations that change deployments.

use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, RollbackDeployment, UpdateDeployment};
use common::api::upgrade::UpgradeDeployment;
use common::model::{
    Deployment, DeploymentName, Identity, InputConfig, ManifestName, Namespace, Operation,
    OperationId, OperationStatus, Progress,
};
use common::request_id;
use jiff::Timestamp;

use super::asked::{Asked, Kind, Precondition};
use super::deployments::missing;
use super::gate::Gate;
use super::quota::Quota;
use super::repeats::{Repeat, Repeats};
use crate::auth::Caller;
use crate::domain::intent::{Change, Intent, New, Options};
use crate::domain::{correction, deployment, imports, manifest};
use crate::error::Error;
use crate::store::deployments::{self, Found};
use crate::store::operations::OperationRecord;
use crate::store::{Store, StoreError, manifests};
use crate::workflow::{self, Engine, Ticket};

/// Who asks for what is due on a schedule.
pub const MANAGER: &str = "manager";
/// Where objects go if neither they nor their deployment name a namespace.
pub const NAMESPACE: &str = "default";
/// Times that a decision is made again because the deployment changed under it.
const DECISIONS: usize = 5;

pub struct Writes {
    pub store: Store,
    pub gate: Gate,
    pub engine: Engine,
    pub operation_timeout: Duration,
    pub quota: Quota,
}

/// A write before it is accepted.
pub struct Draft {
    pub name: DeploymentName,
    pub intent: Intent,
    pub input: InputConfig,
    pub options: Options,
    pub timeout: Duration,
    pub precondition: Precondition,
    pub idempotency_key: Option<String>,
    pub caller: Caller,
}

impl Writes {
    pub async fn create(
        &self,
        request: CreateDeployment,
        asked: impl Into<Asked>,
    ) -> Result<Ticket, Error> {
        let asked = asked.into();
        asked.check(Kind::Create)?;
        deployment::check(&request.description, &request.labels)
            .map_err(|error| Error::invalid(&error))?;
        let new = New {
            namespace: namespace(request.namespace)?,
            description: request.description,
            labels: request.labels,
            drift_policy: request.drift_policy,
            service_account: request.service_account,
        };
        let intent = match asked.query.preview {
            true => Intent::Preview {
                new: Some(new),
                service_account: None,
            },
            false => Intent::Create(new),
        };
        let input = input(request.content, request.imports)?;
        self.accept(self.draft(request.name, intent, input, asked)?)
            .await
    }

    /// To a new configuration, to the preview of one, or to the preview that was made before.
    pub async fn update(
        &self,
        name: DeploymentName,
        request: UpdateDeployment,
        asked: impl Into<Asked>,
    ) -> Result<Ticket, Error> {
        let asked = asked.into();
        let change = Change {
            description: request.description,
            labels: request.labels,
            drift_policy: request.drift_policy,
            upgrade: None,
            service_account: request.service_account,
        };
        check(&change)?;
        match (request.content, request.manifest) {
            (Some(content), None) => {
                asked.check(Kind::Update)?;
                let intent = match asked.query.preview {
                    true => preview(change)?,
                    false => Intent::Update(change),
                };
                let input = input(content, request.imports)?;
                self.accept(self.draft(name, intent, input, asked)?).await
            }
            (None, Some(manifest)) if request.imports.is_empty() => {
                asked.check(Kind::Commit)?;
                self.commit(name, change, manifest, asked).await
            }
            _ => Err(Error::new(
                ErrorCode::InvalidRequest,
                "give either content (with its imports), or the manifest of a preview to commit",
            )),
        }
    }

    pub async fn rollback(
        &self,
        name: DeploymentName,
        request: RollbackDeployment,
        asked: impl Into<Asked>,
    ) -> Result<Ticket, Error> {
        let asked = asked.into();
        asked.check(Kind::Rollback)?;
        let intent = Intent::Rollback {
            to: request.manifest,
        };
        self.accept(self.draft(name, intent, InputConfig::default(), asked)?)
            .await
    }

    /// The latest configuration again, with another version of one template in it.
    pub async fn upgrade(
        &self,
        name: DeploymentName,
        request: UpgradeDeployment,
        asked: impl Into<Asked>,
    ) -> Result<Ticket, Error> {
        let asked = asked.into();
        asked.check(Kind::Upgrade)?;
        let intent = Intent::Update(Change {
            upgrade: Some(request.template),
            ..Change::default()
        });
        self.accept(self.draft(name, intent, InputConfig::default(), asked)?)
            .await
    }

    pub async fn delete(
        &self,
        name: DeploymentName,
        asked: impl Into<Asked>,
    ) -> Result<Ticket, Error> {
        let asked = asked.into();
        asked.check(Kind::Delete)?;
        let intent = Intent::Delete {
            delete_policy: asked.query.policies.delete_policy,
        };
        self.accept(self.draft(name, intent, InputConfig::default(), asked)?)
            .await
    }

    /// Applies the latest manifest again, if the deployment still is as it was found: as its last writer asked, and in
    /// that one's name.
    pub async fn correct(
        &self,
        found: &Deployment,
        writer: Option<Identity>,
    ) -> Result<Ticket, Error> {
        let asked = Asked {
            caller: Caller::of(writer),
            precondition: Precondition::OneOf(vec![found.fingerprint.clone()]),
            ..Asked::default()
        };
        let objects = deployments::objects(&self.store, &found.name).await?;
        let (name, input) = (found.name.clone(), InputConfig::default());
        let mut draft = self.draft(name, Intent::Correct, input, asked)?;
        draft.options.policies = correction::policies(objects.policies);
        self.accept(draft).await
    }

    /// The end of a write: the deployment as it left it, or why it failed.
    pub async fn finished(&self, ticket: &Ticket) -> Result<Deployment, Error> {
        let outcome = ticket.outcome().await?;
        match (&outcome.operation.error, &outcome.deployment) {
            (Some(error), _) => Err(Error::Refused(Box::new(error.clone()))),
            (None, Some(deployment)) => Ok(deployment.clone()),
            (None, None) => {
                let name = &outcome.operation.deployment;
                let found = deployments::get(&self.store, name).await?;
                found.ok_or_else(|| missing(name))
            }
        }
    }

    async fn commit(
        &self,
        name: DeploymentName,
        change: Change,
        manifest: ManifestName,
        asked: Asked,
    ) -> Result<Ticket, Error> {
        let preview = manifests::preview(&self.store, &name, &manifest).await?;
        let mut draft = self.draft(name, Intent::Commit(change), InputConfig::default(), asked)?;
        // What has no preview is refused when the deployment is looked at.
        draft.options.policies = preview.map(|preview| preview.policies).unwrap_or_default();
        self.accept_manifest(draft, Some(manifest)).await
    }

    fn draft(
        &self,
        name: DeploymentName,
        intent: Intent,
        input: InputConfig,
        asked: Asked,
    ) -> Result<Draft, Error> {
        Ok(Draft {
            name,
            intent,
            input,
            options: asked.options(),
            timeout: asked.timeout(self.operation_timeout)?,
            precondition: asked.precondition,
            idempotency_key: asked.idempotency_key,
            caller: asked.caller,
        })
    }

    async fn accept(&self, draft: Draft) -> Result<Ticket, Error> {
        self.accept_manifest(draft, None).await
    }

    /// Decides and commits; again if the deployment changed in between. `committed` is the manifest of a commit.
    async fn accept_manifest(
        &self,
        draft: Draft,
        committed: Option<ManifestName>,
    ) -> Result<Ticket, Error> {
        let repeats = Repeats {
            store: &self.store,
            engine: &self.engine,
        };
        let mut decisions = 0;
        loop {
            let id = operation_id()?;
            let found = deployments::find(&self.store, &draft.name).await?;
            self.authorize(&draft, found.as_ref()).await?;
            let request = match repeats.look(&draft, committed.as_ref(), &id).await? {
                Repeat::Same(ticket) => return Ok(ticket),
                Repeat::New(request) => request,
            };
            if !self.engine.has_room() {
                return Err(crowded());
            }
            let found = self.permitted(&draft, found, committed.as_ref()).await?;
            if decisions == 0 {
                self.within_quota(&draft).await?;
            }
            let record = record(&draft, id, found.as_ref(), committed.clone())?;
            let accepted = self
                .engine
                .accept(record, &draft.input, found.as_ref(), request.as_ref())
                .await;
            match accepted {
                Err(error) if error.is_conflict() && decisions < DECISIONS => decisions += 1,
                Err(error) if error.is_conflict() => return Err(busy(&draft.name, None)),
                accepted => return Ok(accepted?),
            }
        }
    }

    /// Whether the caller may make the write, and use the service account in whose name it is applied. The operation is
    /// authorized again before each of its steps.
    async fn authorize(&self, draft: &Draft, found: Option<&Found>) -> Result<(), Error> {
        let (intent, caller) = (&draft.intent, &draft.caller);
        let stored = found.map(|found| &found.deployment);
        let place = match intent.new_deployment() {
            Some(new) => Some(&new.namespace),
            None => stored.map(|stored| &stored.namespace),
        };
        // What is not there is told by who looks for it.
        let Some(namespace) = place else {
            return Ok(());
        };
        self.gate
            .within(caller, namespace, &draft.name, workflow::verb(intent))
            .await?;
        let account = stored.and_then(|stored| stored.service_account.as_ref());
        let account = intent.service_account(account);
        let access = &self.gate.access;
        access
            .acting(caller.identity.as_ref(), namespace, account)
            .await?;
        Ok(())
    }

    async fn within_quota(&self, draft: &Draft) -> Result<(), Error> {
        self.quota.check_size(&draft.input)?;
        match draft.intent.new_deployment() {
            Some(new) => self.quota.take(&new.namespace).await,
            None => Ok(()),
        }
    }

    /// The deployment that the write is about, if it may be made now.
    async fn permitted(
        &self,
        draft: &Draft,
        found: Option<Found>,
        committed: Option<&ManifestName>,
    ) -> Result<Option<Found>, Error> {
        let holder = deployments::holder(&self.store, &draft.name).await?;
        let is_new = draft.intent.new_deployment().is_some();
        match found {
            // First, so that a second create is told of the first from its beginning to its end.
            _ if holder.is_some() => Err(busy(&draft.name, holder.as_ref())),
            Some(_) if is_new => Err(exists(&draft.name)),
            None if is_new => Ok(None),
            None => Err(missing(&draft.name)),
            Some(found) => {
                draft.precondition.check(&found.deployment)?;
                self.check_manifest(draft, committed, &found.deployment)
                    .await?;
                Ok(Some(found))
            }
        }
    }

    /// Whether the manifest that the write speaks of is one to apply.
    async fn check_manifest(
        &self,
        draft: &Draft,
        committed: Option<&ManifestName>,
        deployment: &Deployment,
    ) -> Result<(), Error> {
        let wanted = match &draft.intent {
            Intent::Rollback { to } => to,
            Intent::Correct => match &deployment.latest_manifest {
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

/// What becomes of the rest is told by the commit: a preview changes nothing of the deployment. In whose name it would be
/// is of interest to the preview itself, as it tells what they may not do; the commit names them again.
fn preview(change: Change) -> Result<Intent, Error> {
    let rest = Change {
        service_account: None,
        ..change.clone()
    };
    if rest == Change::default() {
        return Ok(Intent::Preview {
            new: None,
            service_account: change.service_account,
        });
    }
    Err(Error::new(
        ErrorCode::InvalidRequest,
        "description, labels and driftPolicy cannot be previewed; give them with the commit",
    ))
}

fn check(change: &Change) -> Result<(), Error> {
    let description = change.description.as_deref().unwrap_or_default();
    let labels = change.labels.clone().unwrap_or_default();
    deployment::check(description, &labels).map_err(|error| Error::invalid(&error))
}

pub fn namespace(asked: Option<Namespace>) -> Result<Namespace, Error> {
    match asked {
        Some(namespace) => Ok(namespace),
        None => Namespace::parse(NAMESPACE).map_err(|error| Error::invalid(&error)),
    }
}

pub fn input(content: String, files: Vec<common::model::Import>) -> Result<InputConfig, Error> {
    imports::Imports::of_request(files.clone()).map_err(|error| Error::invalid(&error))?;
    Ok(InputConfig {
        content,
        imports: files,
    })
}

fn record(
    draft: &Draft,
    id: OperationId,
    found: Option<&Found>,
    committed: Option<ManifestName>,
) -> Result<OperationRecord, StoreError> {
    let now = Timestamp::now();
    let manifest = match (committed, &draft.intent) {
        (Some(committed), _) => committed,
        (None, Intent::Correct) => applied(found, &draft.name)?,
        (None, _) => manifest_name(found, now)?,
    };
    let is_stored = matches!(draft.intent, Intent::Commit(_) | Intent::Correct);
    let operation = Operation {
        id,
        operation_type: draft.intent.operation_type(),
        deployment: draft.name.clone(),
        manifest: is_stored.then(|| manifest.clone()),
        user: user(draft).to_owned(),
        from: draft.caller.address.clone(),
        status: OperationStatus::Pending,
        progress: Progress::default(),
        start_time: now,
        end_time: None,
        error: None,
        warnings: Vec::new(),
        rollback: None,
    };
    Ok(OperationRecord {
        operation,
        intent: draft.intent.clone(),
        manifest: Some(manifest),
        options: draft.options,
        undo: None,
        timeout_ms: u64::try_from(draft.timeout.as_millis()).unwrap_or(u64::MAX),
        request_id: request_id::current().unwrap_or_else(request_id::fresh),
        answer: None,
        idempotency_key: draft.idempotency_key.clone(),
        identity: draft.caller.identity.clone(),
        namespace: namespace_of(draft, found),
    })
}

/// Nobody asks for a correction but the manager itself.
fn user(draft: &Draft) -> &str {
    match draft.intent {
        Intent::Correct => MANAGER,
        _ => draft.caller.user(),
    }
}

fn namespace_of(draft: &Draft, found: Option<&Found>) -> Option<Namespace> {
    let new = draft.intent.new_deployment().map(|new| &new.namespace);
    let stored = found.map(|found| &found.deployment.namespace);
    new.or(stored).cloned()
}

fn applied(found: Option<&Found>, name: &DeploymentName) -> Result<ManifestName, StoreError> {
    let latest = found.and_then(|found| found.deployment.latest_manifest.clone());
    latest.ok_or_else(|| StoreError::Missing(format!("the latest manifest of {name}")))
}

/// Ids begin with the time: their order is that of their beginning.
fn operation_id() -> Result<OperationId, StoreError> {
    let id = format!("op-{}", uuid::Uuid::now_v7().simple());
    OperationId::parse(id).map_err(|error| StoreError::Broken(error.to_string()))
}

/// Later than every manifest that is there.
fn manifest_name(found: Option<&Found>, now: Timestamp) -> Result<ManifestName, StoreError> {
    let last = found.and_then(|found| {
        let deployment = &found.deployment;
        deployment
            .latest_manifest
            .as_ref()
            .max(deployment.preview.as_ref())
    });
    manifest::name(last, now).map_err(|error| StoreError::Broken(error.to_string()))
}

fn crowded() -> Error {
    let message = "as many operations wait as may (--operations-waiting); try again when some of them are done";
    Error::new(ErrorCode::Unavailable, message)
}

fn exists(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::AlreadyExists,
        format!("deployment '{name}' exists; update it, or delete it first"),
    )
}

fn absent(name: &DeploymentName, manifest: &ManifestName) -> Error {
    let message = format!("deployment '{name}' has no manifest '{manifest}'");
    Error::new(ErrorCode::NotFound, message)
}

fn unapplied(name: &DeploymentName) -> Error {
    let message = format!("deployment '{name}' has no manifest that was applied");
    Error::new(ErrorCode::NotFound, message)
}

pub fn busy(name: &DeploymentName, holder: Option<&OperationId>) -> Error {
    let who = holder.map_or_else(
        || "another operation".to_owned(),
        |id| format!("operation {id}"),
    );
    Error::new(
        ErrorCode::OperationRunning,
        format!("{who} is running on deployment '{name}'; wait for its end, or stop it"),
    )
}
