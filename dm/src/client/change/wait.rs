//! `dm wait`: follows an operation that somebody started.

use clap::Args;
use common::model::OperationId;

use crate::client::operation::follow::WaitLimit;
use crate::client::operation::write::{Subject, wait};
use crate::client::session::Session;
use crate::error::Failure;
use crate::error::Sources;

/// Wait for an operation; exits as the command that started it would have.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dm wait OPERATION
  dm wait OPERATION --timeout 5m      # stops waiting after that; the operation goes on")]
pub struct Wait {
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
