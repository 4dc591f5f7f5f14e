//! `dm stop` and `dm cancel`: stop a running operation.

use clap::Args;
use common::api::error::ErrorCode;
use common::api::manager::WriteQuery;
use common::model::{DeploymentName, Operation, OperationId, OperationStatus};

use crate::client::operation::follow::WaitLimit;
use crate::client::operation::write::followed;
use crate::client::session::Session;
use crate::error::Failure;

/// Stop the running operation of a deployment. Nothing is undone: continue with dm update, dm rollback or dm delete.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm stop web")]
pub struct Stop {
    /// Name of the deployment.
    pub name: DeploymentName,
}

/// Stop an operation by its id, like dm stop does by the name of the deployment.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm cancel OPERATION")]
pub struct Cancel {
    /// Id of the operation.
    pub operation: OperationId,
}

impl Stop {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let operation = session
            .client
            .stop(&self.name, &WriteQuery::default())
            .await?;
        ended(session, operation).await
    }
}

impl Cancel {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let operation = session.client.cancel(&self.operation).await?;
        ended(session, operation).await
    }
}

/// The operation may have ended by itself just before.
async fn ended(session: &mut Session<'_, '_>, operation: Operation) -> Result<(), Failure> {
    let patience = WaitLimit::Wait(session.timeout);
    let operation = match operation.status {
        OperationStatus::Done => operation,
        OperationStatus::Pending | OperationStatus::Running => {
            followed(session, operation, patience).await?
        }
    };
    session.show(&operation, render)
}

fn render(operation: &Operation) -> String {
    let (id, name) = (&operation.id, &operation.deployment);
    match &operation.error {
        Some(error) if error.code == ErrorCode::OperationStopped => format!(
            "operation {id} is stopped; nothing was undone\nsee the current state: dm status {name}\n"
        ),
        Some(_) => format!(
            "operation {id} had failed before it could be stopped\nsee why: dm get {name}\n"
        ),
        None => format!(
            "operation {id} had succeeded before it could be stopped\nsee it: dm get {name}\n"
        ),
    }
}
