//! Deploys the example, waits until it is ready, and removes it in any case.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use common::api::error::ErrorCode;
use common::api::manager::{CreateDeployment, WriteQuery};
use common::client::ClientError;
use common::model::{DeploymentName, DeploymentStatus, DriftPolicy, Operation};

use super::checks::sentences;
use super::{Check, Test};
use crate::bundle::Bundle;
use crate::client::operation::error::OperationError;
use crate::client::operation::follow::WaitLimit;
use crate::client::operation::write::{followed, query};
use crate::client::session::Session;
use crate::error::{CommandError, ExitCode, Failure};

const LIVE: &str = "live";
/// Pause before the next try to delete a deployment whose operation is being stopped.
const PAUSE: Duration = Duration::from_millis(250);
/// Number of tries: one minute in total.
const LOOKS: u32 = 240;

/// Ctrl-C ended the test; nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[error("interrupted; the deployment {removed} of the test is removed")]
struct TestInterrupted {
    removed: DeploymentName,
}

impl CommandError for TestInterrupted {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Interrupted
    }
}

/// An error here is a failure of the test, not of the template: Ctrl-C, an unavailable manager, or a failed removal.
pub async fn check(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    example: &Bundle,
    asked: &Test,
) -> Result<Check, Failure> {
    let deployed = deployed(session, name, example, asked).await;
    let removed = removed(session, name).await;
    if let Err(error) = &removed {
        let left = format!("{name} may still exist: {error}\nremove it with: dm delete {name}");
        session.terminal.note(&left);
    }
    let faults = match (deployed, removed) {
        (Err(failure), Ok(())) if failure.exit_code() == ExitCode::Interrupted => {
            let removed = name.clone();
            return Err(TestInterrupted { removed }.into());
        }
        (deployed, removed) => {
            let faults = deployed?;
            removed?;
            faults
        }
    };
    Ok(match faults.is_empty() {
        true => Check::ok(LIVE, "it became ready, and was removed"),
        false => Check::failed(LIVE, faults),
    })
}

/// The faults; none if it became ready.
async fn deployed(
    session: &mut Session<'_, '_>,
    name: &DeploymentName,
    example: &Bundle,
    asked: &Test,
) -> Result<Vec<String>, Failure> {
    let request = CreateDeployment {
        name: name.clone(),
        content: example.content.clone(),
        imports: example.imports.clone(),
        namespace: asked.namespace.clone(),
        cluster: asked.cluster.clone(),
        drift_policy: DriftPolicy::default(),
        service_account: asked.account.for_create(),
        labels: BTreeMap::new(),
        description: "a test of a template".to_owned(),
    };
    let client = session.client.clone();
    let query = query(session);
    let mut create = pin!(client.create_async(&request, &query));
    let (started, is_interrupted) = tokio::select! {
        biased;
        // Waits for the answer all the same: the deployment can only be removed once it exists.
        Ok(()) = tokio::signal::ctrl_c() => (create.as_mut().await, true),
        started = &mut create => (started, false),
    };
    let operation = match started {
        Ok(operation) => operation,
        Err(ClientError::Answered(body)) => return Ok(sentences(&body)),
        Err(error) => return Err(error.into()),
    };
    if is_interrupted {
        return Err(OperationError::Interrupted {
            operation: operation.id,
            deployment: operation.deployment,
        }
        .into());
    }
    let patience = WaitLimit::Write(session.timeout);
    let operation = followed(session, operation, patience).await?;
    if let Some(error) = &operation.error {
        return Ok(sentences(error));
    }
    let deployment = client.deployment(name).await?;
    Ok(match deployment.state.status {
        DeploymentStatus::Failed => deployment.state.errors,
        _ => Vec::new(),
    })
}

/// Stops the running operation, if any, and deletes the deployment, if it exists.
async fn removed(session: &mut Session<'_, '_>, name: &DeploymentName) -> Result<(), Failure> {
    for _ in 0..LOOKS {
        match deleting(session, name).await {
            Ok(None) => return Ok(()),
            Ok(Some(operation)) => {
                let patience = WaitLimit::Write(session.timeout);
                let operation = followed(session, operation, patience).await?;
                return match operation.error {
                    None => Ok(()),
                    Some(error) => Err(ClientError::Answered(Box::new(error)).into()),
                };
            }
            Err(ClientError::Answered(body)) if body.code == ErrorCode::OperationRunning => {
                stop(session, name).await?;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::not_found(format!(
        "an operation on {name} is still running"
    )))
}

/// The operation that deletes the deployment; none if it does not exist.
async fn deleting(
    session: &Session<'_, '_>,
    name: &DeploymentName,
) -> Result<Option<Operation>, ClientError> {
    match session.client.delete_async(name, &query(session)).await {
        Ok(operation) => Ok(Some(operation)),
        Err(ClientError::Answered(body)) if body.code == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The operation may have ended by itself.
async fn stop(session: &Session<'_, '_>, name: &DeploymentName) -> Result<(), ClientError> {
    match session.client.stop(name, &WriteQuery::default()).await {
        Err(ClientError::Answered(body))
            if matches!(body.code, ErrorCode::NothingRunning | ErrorCode::NotFound) =>
        {
            Ok(())
        }
        stopped => stopped.map(|_| ()),
    }
}
