//! `dm wait`: follows a running operation.

use clap::Args;
use common::model::OperationId;

use crate::client::operation::follow::WaitLimit;
use crate::client::operation::write::{Subject, wait};
use crate::client::session::Session;
use crate::error::Failure;
use crate::error::Sources;

/// Wait for an operation; exits with the code of the command that started it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm wait OPERATION
  dm wait OPERATION --timeout 5m      # stop waiting after 5 minutes; the operation goes on")]
pub struct Wait {
    /// Id of the operation.
    pub operation: OperationId,
}

impl Wait {
    pub async fn run(self, session: &mut Session<'_, '_>) -> Result<(), Failure> {
        let operation = session.client.operation(&self.operation).await?;
        let subject = Subject::new(format!("operation {}", self.operation), Sources::default());
        wait(
            session,
            operation,
            &subject,
            WaitLimit::Wait(session.timeout),
        )
        .await
    }
}
