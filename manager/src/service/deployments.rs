//! Deployments: reading them, and starting the operations that change them.

use std::sync::Arc;
use std::time::Duration;

use common::api::deployer::StatusRequest;
use common::api::error::ErrorCode;
use common::api::manager::{
    CreateDeployment, LiveResource, Resources, UpdateDeployment, WriteQuery,
};
use common::api::page::{Page, PageQuery};
use common::model::{
    Deployment, DeploymentName, InputConfig, ManifestName, Namespace, Operation, OperationId,
    OperationStatus, Progress,
};
use common::request_id;
use jiff::Timestamp;

use crate::deployer::Deployer;
use crate::domain::operation::Intent;
use crate::domain::{deployment, imports, manifest};
use crate::error::Error;
use crate::store::deployments::{self, Found};
use crate::store::operations::OperationRecord;
use crate::store::{Store, StoreError};
use crate::workflow::{Engine, Ticket};

/// Callers are not told apart yet.
pub const USER: &str = "anonymous";
/// Where objects go if neither they nor their deployment name a namespace.
pub const NAMESPACE: &str = "default";
/// The longest time that a caller may give an operation.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Reading the live state: one list call a kind.
const STATUS: Duration = Duration::from_secs(30);
/// Times that a decision is made again because the deployment changed under it.
const DECISIONS: usize = 5;

/// What the deployment must be for a write to be made (`If-Match`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Precondition {
    #[default]
    None,
    /// One of these fingerprints.
    OneOf(Vec<String>),
}

pub struct Deployments {
    pub store: Store,
    pub engine: Engine,
    pub deployer: Arc<dyn Deployer>,
    pub operation_timeout: Duration,
}

/// A write before it is accepted.
struct Draft {
    name: DeploymentName,
    intent: Intent,
    input: InputConfig,
    timeout: Duration,
    precondition: Precondition,
}

impl Deployments {
    /// A page of them, as JSON.
    pub async fn list(&self, page: &PageQuery) -> Result<String, Error> {
        Ok(deployments::list(&self.store, page).await?)
    }

    pub async fn get(&self, name: &DeploymentName) -> Result<Deployment, Error> {
        let found = deployments::get(&self.store, name).await?;
        found.ok_or_else(|| missing(name))
    }

    /// The live state of what is recorded of it.
    pub async fn resources(&self, name: &DeploymentName) -> Result<Resources, Error> {
        self.get(name).await?;
        let objects = deployments::objects(&self.store, name).await?.recorded;
        if objects.is_empty() {
            return Ok(Page::whole(Vec::new()));
        }
        let request = StatusRequest {
            objects,
            desired: None,
        };
        let found = self.deployer.status(&request, STATUS).await?;
        let live = |status| LiveResource {
            status,
            final_properties: None,
        };
        Ok(Page::whole(found.into_iter().map(live).collect()))
    }

    pub async fn create(
        &self,
        request: CreateDeployment,
        query: &WriteQuery,
    ) -> Result<Ticket, Error> {
        deployment::check(&request.description, &request.labels)
            .map_err(|error| Error::invalid(&error))?;
        let namespace = match request.namespace {
            Some(namespace) => namespace,
            None => Namespace::parse(NAMESPACE).map_err(|error| Error::invalid(&error))?,
        };
        let intent = Intent::Create {
            namespace,
            description: request.description,
            labels: request.labels,
        };
        let input = input(request.content, request.imports)?;
        self.accept(self.draft(request.name, intent, input, query, Precondition::None)?)
            .await
    }

    pub async fn update(
        &self,
        name: DeploymentName,
        request: UpdateDeployment,
        query: &WriteQuery,
        precondition: Precondition,
    ) -> Result<Ticket, Error> {
        let (description, labels) = (
            request.description.as_deref().unwrap_or_default(),
            request.labels.clone().unwrap_or_default(),
        );
        deployment::check(description, &labels).map_err(|error| Error::invalid(&error))?;
        let intent = Intent::Update {
            description: request.description,
            labels: request.labels,
        };
        let content = request
            .content
            .ok_or_else(|| Error::new(ErrorCode::InvalidRequest, "the request has no content"))?;
        let input = input(content, request.imports)?;
        self.accept(self.draft(name, intent, input, query, precondition)?)
            .await
    }

    pub async fn delete(
        &self,
        name: DeploymentName,
        query: &WriteQuery,
        precondition: Precondition,
    ) -> Result<Ticket, Error> {
        let intent = Intent::Delete {
            delete_policy: query.delete_policy,
        };
        self.accept(self.draft(name, intent, InputConfig::default(), query, precondition)?)
            .await
    }

    /// The end of a write: the deployment as it left it, or why it failed.
    pub async fn finished(&self, ticket: &Ticket) -> Result<Deployment, Error> {
        let outcome = ticket.outcome().await?;
        match (&outcome.operation.error, &outcome.deployment) {
            (Some(error), _) => Err(Error::Refused(Box::new(error.clone()))),
            (None, Some(deployment)) => Ok(deployment.clone()),
            (None, None) => self.get(&outcome.operation.deployment).await,
        }
    }

    fn draft(
        &self,
        name: DeploymentName,
        intent: Intent,
        input: InputConfig,
        query: &WriteQuery,
        precondition: Precondition,
    ) -> Result<Draft, Error> {
        let timeout = query
            .timeout_ms
            .map_or(self.operation_timeout, Duration::from_millis);
        if timeout.is_zero() || timeout > LONGEST {
            let message = format!("timeoutMs must be from 1 to {}", LONGEST.as_millis());
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        }
        Ok(Draft {
            name,
            intent,
            input,
            timeout,
            precondition,
        })
    }

    /// Decides and commits; again if the deployment changed in between.
    async fn accept(&self, draft: Draft) -> Result<Ticket, Error> {
        let mut decisions = 0;
        loop {
            let found = self.permitted(&draft).await?;
            let record = record(&draft, found.as_ref())?;
            match self
                .engine
                .accept(record, &draft.input, found.as_ref())
                .await
            {
                Err(error) if error.is_conflict() && decisions < DECISIONS => decisions += 1,
                Err(error) if error.is_conflict() => return Err(busy(&draft.name, None)),
                accepted => return Ok(accepted?),
            }
        }
    }

    /// The deployment that the write is about, if it may be made now.
    async fn permitted(&self, draft: &Draft) -> Result<Option<Found>, Error> {
        let found = deployments::find(&self.store, &draft.name).await?;
        let holder = deployments::holder(&self.store, &draft.name).await?;
        match (&draft.intent, &found) {
            (Intent::Create { .. }, Some(_)) => Err(exists(&draft.name)),
            (_, _) if holder.is_some() => Err(busy(&draft.name, holder.as_ref())),
            (Intent::Create { .. }, None) => Ok(None),
            (_, None) => Err(missing(&draft.name)),
            (_, Some(Found { deployment, .. })) => {
                check(&draft.precondition, deployment)?;
                Ok(found)
            }
        }
    }
}

fn check(precondition: &Precondition, deployment: &Deployment) -> Result<(), Error> {
    let Precondition::OneOf(fingerprints) = precondition else {
        return Ok(());
    };
    if fingerprints.contains(&deployment.fingerprint) {
        return Ok(());
    }
    let message = format!(
        "deployment '{}' has changed since it was read; read it again, then repeat the change",
        deployment.name
    );
    Err(Error::new(ErrorCode::PreconditionFailed, message))
}

fn input(content: String, files: Vec<common::model::Import>) -> Result<InputConfig, Error> {
    imports::Imports::of_request(files.clone()).map_err(|error| Error::invalid(&error))?;
    Ok(InputConfig {
        content,
        imports: files,
    })
}

fn record(draft: &Draft, found: Option<&Found>) -> Result<OperationRecord, StoreError> {
    let now = Timestamp::now();
    let latest = found.and_then(|found| found.deployment.latest_manifest.as_ref());
    let operation = Operation {
        id: operation_id()?,
        operation_type: draft.intent.operation_type(),
        deployment: draft.name.clone(),
        manifest: Some(manifest_name(latest, now)?),
        user: USER.to_owned(),
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
        timeout_ms: u64::try_from(draft.timeout.as_millis()).unwrap_or(u64::MAX),
        request_id: request_id::current().unwrap_or_else(request_id::fresh),
    })
}

/// Ids begin with the time: their order is that of their beginning.
fn operation_id() -> Result<OperationId, StoreError> {
    let id = format!("op-{}", uuid::Uuid::now_v7().simple());
    OperationId::parse(id).map_err(|error| StoreError::Broken(error.to_string()))
}

fn manifest_name(
    latest: Option<&ManifestName>,
    now: Timestamp,
) -> Result<ManifestName, StoreError> {
    manifest::name(latest, now).map_err(|error| StoreError::Broken(error.to_string()))
}

pub fn missing(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::NotFound,
        format!("there is no deployment '{name}'"),
    )
}

fn exists(name: &DeploymentName) -> Error {
    Error::new(
        ErrorCode::AlreadyExists,
        format!("deployment '{name}' exists; update it, or delete it first"),
    )
}

fn busy(name: &DeploymentName, holder: Option<&OperationId>) -> Error {
    let who = holder.map_or_else(
        || "another operation".to_owned(),
        |id| format!("operation {id}"),
    );
    Error::new(
        ErrorCode::OperationRunning,
        format!("{who} is running on deployment '{name}'; wait for its end"),
    )
}
