//! The way of every write: start the operation, follow it, show what came of it.

use std::future::Future;

use common::api::error::ErrorBody;
use common::api::manager::WriteQuery;
use common::client::ClientError;
use common::model::{DeletePolicy, Deployment, DeploymentStatus, Operation, OperationType};

use crate::bundle::Sources;
use crate::error::Failure;
use crate::follow::{Patience, follow};
use crate::output::resources::{operation_type, outputs};
use crate::output::text;
use crate::progress::Progress;
use crate::session::{Session, within};

/// What is written, for messages.
pub struct Subject {
    /// Like `deploying web.yaml`.
    pub doing: String,
    pub sources: Sources,
}

impl Subject {
    pub fn new(doing: String, sources: Sources) -> Self {
        Self { doing, sources }
    }

    pub fn refused(&self, body: ErrorBody) -> Failure {
        Failure::Refused {
            doing: self.doing.clone(),
            body: Box::new(body),
            sources: self.sources.clone(),
        }
    }

    pub fn failed(&self, error: ClientError) -> Failure {
        match error {
            ClientError::Answered(body) => self.refused(*body),
            other => other.into(),
        }
    }
}

/// The query of a write in this session.
pub fn query(session: &Session<'_, '_>, delete_policy: Option<DeletePolicy>) -> WriteQuery {
    let timeout_ms = session
        .timeout
        .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
    WriteQuery {
        timeout_ms,
        delete_policy,
        ..WriteQuery::default()
    }
}

/// `started` is the request that starts the operation; `at_once` shows the operation and leaves it alone.
pub async fn write(
    session: &mut Session<'_, '_>,
    subject: Subject,
    started: impl Future<Output = Result<Operation, ClientError>>,
    at_once: bool,
) -> Result<(), Failure> {
    let starting = async { started.await.map_err(|error| subject.failed(error)) };
    let operation = within(session.timeout, "starting the operation", starting).await?;
    if at_once {
        return session.show(&operation, |operation| {
            let id = &operation.id;
            format!(
                "operation {id} has started: {}\nfollow it with: dm wait {id}\n",
                described(operation)
            )
        });
    }
    let patience = Patience::OfWrite(session.timeout);
    wait(session, operation, subject, patience).await
}

/// Follows an operation and shows what came of it.
pub async fn wait(
    session: &mut Session<'_, '_>,
    operation: Operation,
    subject: Subject,
    patience: Patience,
) -> Result<(), Failure> {
    let client = session.client.clone();
    let mut progress = Progress::new(session.terminal);
    let operation = follow(&client, operation, patience, &mut progress).await;
    drop(progress);
    let mut operation = operation?;
    for warning in &operation.warnings {
        session
            .terminal
            .note(&format!("warning: {}", text::line(warning)));
    }
    if let Some(error) = operation.error.take() {
        return Err(subject.refused(error));
    }
    match operation.operation_type {
        OperationType::Delete => session.show(&operation, |operation| {
            format!("{} is deleted\n", operation.deployment)
        }),
        OperationType::Create
        | OperationType::Update
        | OperationType::Preview
        | OperationType::Rollback
        | OperationType::Correct => show_deployment(session, &operation).await,
    }
}

/// The deployment's state has the last word on whether it went well.
async fn show_deployment(
    session: &mut Session<'_, '_>,
    operation: &Operation,
) -> Result<(), Failure> {
    let deployment = session.client.deployment(&operation.deployment).await?;
    session.show(&deployment, result)?;
    if deployment.state.status == DeploymentStatus::Failed {
        return Err(Failure::DeploymentFailed {
            name: deployment.name,
            errors: deployment.state.errors,
        });
    }
    Ok(())
}

fn result(deployment: &Deployment) -> String {
    format!(
        "{} is {:?}\n{}",
        deployment.name,
        deployment.state.status,
        outputs(&deployment.outputs)
    )
}

fn described(operation: &Operation) -> String {
    format!(
        "{} {}",
        operation_type(operation.operation_type),
        operation.deployment
    )
}
