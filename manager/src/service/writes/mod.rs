//! Starts the operations that change deployments.

mod acceptance;
pub mod answers;
pub mod asked;
mod draft;
pub mod quota;
mod refusals;
pub(super) mod repeats;

use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, RollbackDeployment, UpdateDeployment};
use common::api::upgrade::UpgradeDeployment;
use common::model::{
    Deployment, DeploymentName, Identity, Import, InputConfig, ManifestName, Namespace,
};

use self::asked::{Asked, Kind, Precondition};
pub use self::draft::{Draft, operation_id};
use self::quota::Quota;
pub use self::refusals::{busy, on_cluster};
use super::access::gate::Gate;
use super::deployments::missing;
use crate::auth::Caller;
use crate::domain::deployment;
use crate::domain::deployment::properties::PropertyChange;
use crate::domain::manifest::imports;
use crate::domain::operation::correction;
use crate::domain::operation::intent::{DeploymentChange, Intent, New};
use crate::error::Error;
use crate::store::{Store, deployments, manifests};
use crate::workflow::{Engine, OperationHandle};

/// The namespace of objects, if neither they nor their deployment name one.
pub const NAMESPACE: &str = "default";

pub struct Writes {
    pub store: Store,
    pub gate: Gate,
    pub engine: Engine,
    pub operation_timeout: Duration,
    pub quota: Quota,
}

impl Writes {
    pub async fn create(
        &self,
        request: CreateDeployment,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let asked = asked.into();
        asked.check(Kind::Create)?;
        deployment::check(&request.description, &request.labels)
            .map_err(|error| Error::invalid(&error))?;
        let new = New {
            namespace: namespace(request.namespace)?,
            cluster: request.cluster.unwrap_or_default(),
            description: request.description,
            labels: request.labels,
            drift_policy: request.drift_policy,
            service_account: request.service_account,
        };
        let intent = match asked.query.preview {
            true => Intent::Preview {
                new: Some(new),
                service_account: None,
                regenerate: Vec::new(),
                properties: None,
            },
            false => Intent::Create(new),
        };
        let input = input(request.content, request.imports)?;
        self.begin(request.name, intent, input, asked).await
    }

    /// Updates to a new configuration or to other properties, previews this, or commits a preview.
    pub async fn update(
        &self,
        name: DeploymentName,
        mut request: UpdateDeployment,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let (mut asked, source): (Asked, _) = (asked.into(), Source::of(&mut request)?);
        asked.cluster = request.cluster;
        let change = DeploymentChange {
            description: request.description,
            labels: request.labels,
            drift_policy: request.drift_policy,
            upgrade: None,
            regenerate: asked.query.regenerate.0.clone(),
            properties: None,
            service_account: request.service_account,
        };
        check(&change)?;
        match source {
            Source::Content(input) => {
                asked.check(Kind::Update)?;
                self.begin(name, replacement(change, &asked)?, input, asked)
                    .await
            }
            Source::Properties(properties) => {
                asked.check(Kind::Update)?;
                let change = DeploymentChange {
                    properties: Some(properties),
                    ..change
                };
                let intent = replacement(change, &asked)?;
                self.begin(name, intent, InputConfig::default(), asked)
                    .await
            }
            Source::Manifest(manifest) => {
                asked.check(Kind::Commit)?;
                self.commit(name, change, manifest, asked).await
            }
        }
    }

    pub async fn rollback(
        &self,
        name: DeploymentName,
        request: RollbackDeployment,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let asked = asked.into();
        asked.check(Kind::Rollback)?;
        let intent = Intent::Rollback {
            to: request.manifest,
        };
        self.begin(name, intent, InputConfig::default(), asked)
            .await
    }

    /// Deploys the latest configuration with another version of one template.
    pub async fn upgrade(
        &self,
        name: DeploymentName,
        request: UpgradeDeployment,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let asked = asked.into();
        asked.check(Kind::Upgrade)?;
        let intent = Intent::Update(DeploymentChange {
            upgrade: Some(request.template),
            ..DeploymentChange::default()
        });
        self.begin(name, intent, InputConfig::default(), asked)
            .await
    }

    pub async fn delete(
        &self,
        name: DeploymentName,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let asked = asked.into();
        asked.check(Kind::Delete)?;
        let intent = Intent::Delete {
            delete_policy: asked.query.policies.delete_policy,
        };
        self.begin(name, intent, InputConfig::default(), asked)
            .await
    }

    /// Runs the test hooks of the deployment's charts.
    pub async fn test(
        &self,
        name: DeploymentName,
        asked: impl Into<Asked>,
    ) -> Result<OperationHandle, Error> {
        let asked = asked.into();
        asked.check(Kind::Test)?;
        self.begin(name, Intent::Test, InputConfig::default(), asked)
            .await
    }

    /// Applies the latest manifest again if the deployment has not changed since the check, with the policies and the
    /// identity of its last writer.
    pub async fn correct(
        &self,
        found: &Deployment,
        writer: Option<Identity>,
    ) -> Result<OperationHandle, Error> {
        let asked = Asked {
            caller: Caller::new(writer),
            precondition: Precondition::OneOf(vec![found.fingerprint.clone()]),
            ..Asked::default()
        };
        let objects = deployments::objects(&self.store, &found.name).await?;
        let (name, input) = (found.name.clone(), InputConfig::default());
        let mut draft = self.draft(name, Intent::Correct, input, asked)?;
        draft.options.policies = correction::policies(objects.policies);
        self.accept(draft, None).await
    }

    /// Waits for the end of a write. Returns the deployment as the write left it, or why it failed.
    pub async fn finished(&self, handle: &OperationHandle) -> Result<Deployment, Error> {
        let outcome = handle.outcome().await?;
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
        change: DeploymentChange,
        manifest: ManifestName,
        asked: Asked,
    ) -> Result<OperationHandle, Error> {
        let preview = manifests::preview(&self.store, &name, &manifest).await?;
        let mut draft = self.draft(name, Intent::Commit(change), InputConfig::default(), asked)?;
        // A deployment without a preview is refused when it is read.
        if let Some(preview) = preview {
            draft.options.policies = preview.policies;
            draft.options.without_hooks = preview.without_hooks;
        }
        self.accept(draft, Some(manifest)).await
    }

    async fn begin(
        &self,
        name: DeploymentName,
        intent: Intent,
        input: InputConfig,
        asked: Asked,
    ) -> Result<OperationHandle, Error> {
        let draft = self.draft(name, intent, input, asked)?;
        self.accept(draft, None).await
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
            joined: asked.joined,
            by_broker: asked.by_broker,
            cluster: asked.cluster,
        })
    }
}

/// The new contents that an update names. `Manifest` is one of the deployment's manifests.
pub enum Source {
    Content(InputConfig),
    Properties(PropertyChange),
    Manifest(ManifestName),
}

impl Source {
    /// Refuses a request that names none of them, or several.
    pub fn of(request: &mut UpdateDeployment) -> Result<Self, Error> {
        let (content, manifest) = (request.content.take(), request.manifest.take());
        let (imports, reset) = (
            std::mem::take(&mut request.imports),
            request.reset_properties,
        );
        match (content, request.properties.take(), manifest) {
            (Some(content), None, None) if !reset => Ok(Self::Content(input(content, imports)?)),
            (None, Some(set), None) if imports.is_empty() => {
                Ok(Self::Properties(PropertyChange { set, reset }))
            }
            (None, None, Some(manifest)) if imports.is_empty() && !reset => {
                Ok(Self::Manifest(manifest))
            }
            _ => Err(Error::new(
                ErrorCode::InvalidRequest,
                "give one of content (with its imports), properties (resetProperties goes with them), and manifest",
            )),
        }
    }
}

/// An update to new contents, or its preview.
fn replacement(change: DeploymentChange, asked: &Asked) -> Result<Intent, Error> {
    match asked.query.preview {
        true => preview(change),
        false => Ok(Intent::Update(change)),
    }
}

/// The commit decides the rest: a preview changes nothing in the deployment. The service account matters to the preview
/// because it reports missing permissions; the commit names it again.
fn preview(change: DeploymentChange) -> Result<Intent, Error> {
    let rest = DeploymentChange {
        service_account: None,
        regenerate: Vec::new(),
        properties: None,
        ..change.clone()
    };
    if rest == DeploymentChange::default() {
        return Ok(Intent::Preview {
            new: None,
            service_account: change.service_account,
            regenerate: change.regenerate,
            properties: change.properties,
        });
    }
    Err(Error::new(
        ErrorCode::InvalidRequest,
        "description, labels and driftPolicy cannot be previewed; give them with the commit",
    ))
}

fn check(change: &DeploymentChange) -> Result<(), Error> {
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

pub fn input(content: String, files: Vec<Import>) -> Result<InputConfig, Error> {
    imports::Imports::of_request(files.clone()).map_err(|error| Error::invalid(&error))?;
    Ok(InputConfig {
        content,
        imports: files,
    })
}
