//! A write before it is accepted, and the operation that it becomes.

use std::time::Duration;

use common::model::{
    ClusterName, DeploymentName, InputConfig, ManifestName, Namespace, Operation, OperationId,
    OperationStatus, Progress,
};
use common::request_id;
use common::telemetry::traces;
use jiff::Timestamp;

use crate::auth::Caller;
use crate::domain::manifest;
use crate::domain::operation::intent::{Intent, Options};
use crate::service::writes::asked::{Joined, Precondition};
use crate::store::deployments::Found;
use crate::store::operations::OperationRecord;
use crate::store::{Changes, StoreError};

/// The user of scheduled operations.
const MANAGER: &str = "manager";

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
    pub joined: Option<Joined>,
    pub by_broker: bool,
    /// The cluster that the deployment must be on.
    pub cluster: Option<ClusterName>,
}

impl Draft {
    /// The id of the operation: a new one, unless other records name it already.
    pub fn operation(&self) -> Result<OperationId, StoreError> {
        match &self.joined {
            Some(joined) => Ok(joined.operation.clone()),
            None => operation_id(),
        }
    }

    /// What is committed together with the acceptance.
    pub fn changes(&self) -> Changes {
        let joined = self.joined.as_ref();
        joined
            .map(|joined| joined.changes.clone())
            .unwrap_or_default()
    }

    /// The records to store. `committed` is the manifest of a commit.
    pub fn record(
        &self,
        id: OperationId,
        found: Option<&Found>,
        committed: Option<ManifestName>,
    ) -> Result<OperationRecord, StoreError> {
        let now = Timestamp::now();
        let manifest = match (committed, &self.intent) {
            (Some(committed), _) => committed,
            (None, Intent::Correct | Intent::Test) => applied(found, &self.name)?,
            (None, _) => manifest_name(found, now)?,
        };
        let is_stored = matches!(
            self.intent,
            Intent::Commit(_) | Intent::Correct | Intent::Test
        );
        let operation = Operation {
            id,
            operation_type: self.intent.operation_type(),
            deployment: self.name.clone(),
            manifest: is_stored.then(|| manifest.clone()),
            user: self.user().to_owned(),
            from: self.caller.address.clone(),
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
            intent: self.intent.clone(),
            manifest: Some(manifest),
            options: self.options,
            undo: None,
            take: None,
            attempts: None,
            timeout_ms: u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX),
            request_id: request_id::current().unwrap_or_else(request_id::fresh),
            trace: traces::current(),
            answer: None,
            idempotency_key: self.idempotency_key.clone(),
            identity: self.caller.identity.clone(),
            namespace: self.namespace(found),
            cluster: self.cluster(found),
        })
    }

    /// Only the manager itself starts corrections.
    fn user(&self) -> &str {
        match self.intent {
            Intent::Correct => MANAGER,
            _ => self.caller.user(),
        }
    }

    /// The cluster of the operation.
    pub fn cluster(&self, found: Option<&Found>) -> ClusterName {
        let new = self.intent.new_deployment().map(|new| &new.cluster);
        let stored = found.map(|found| &found.deployment.cluster);
        new.or(stored).cloned().unwrap_or_default()
    }

    fn namespace(&self, found: Option<&Found>) -> Option<Namespace> {
        let new = self.intent.new_deployment().map(|new| &new.namespace);
        let stored = found.map(|found| &found.deployment.namespace);
        new.or(stored).cloned()
    }
}

fn applied(found: Option<&Found>, name: &DeploymentName) -> Result<ManifestName, StoreError> {
    let latest = found.and_then(|found| found.deployment.latest_manifest.clone());
    latest.ok_or_else(|| StoreError::Missing(format!("the latest manifest of {name}")))
}

/// Ids begin with the time, so their order is the order in which the operations began.
pub fn operation_id() -> Result<OperationId, StoreError> {
    let id = format!("op-{}", uuid::Uuid::now_v7().simple());
    OperationId::parse(id).map_err(|error| StoreError::Broken(error.to_string()))
}

/// A name that sorts after every existing manifest.
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
