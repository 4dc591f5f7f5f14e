//! Waits for an operation, in spite of dropped connections and restarts of the manager.

use std::time::{Duration, Instant};

use common::client::{ClientError, ManagerClient};
use common::model::{Operation, OperationStatus};

use crate::error::Failure;
use crate::progress::Progress;

/// A person sees the change at once, and the manager hardly notices the question.
const POLL: Duration = Duration::from_millis(200);
/// A restart of the manager takes seconds; after so long somebody must look.
const PATIENCE: Duration = Duration::from_secs(60);
/// A write's timeout is the manager's to watch: this much later nobody does any more.
const GRACE: Duration = Duration::from_secs(15);

/// How long to wait at all.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// As long as the manager works on it, given this time for it.
    OfWrite(Option<Duration>),
    /// No longer than this, if anything.
    OfWait(Option<Duration>),
}

impl Patience {
    fn deadline(self) -> Option<Duration> {
        match self {
            Self::OfWrite(timeout) => timeout.map(|timeout| timeout + GRACE),
            Self::OfWait(timeout) => timeout,
        }
    }
}

/// Follows it to its end. An operation that ended with an error is a result here.
pub async fn follow(
    client: &ManagerClient,
    operation: Operation,
    patience: Patience,
    progress: &mut Progress<'_, '_>,
) -> Result<Operation, Failure> {
    let id = operation.id.clone();
    let deadline = patience.deadline();
    let expired = async {
        match deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        done = poll(client, operation, progress) => done,
        () = expired => Err(Failure::TimedOut {
            what: format!("operation {id}"),
            within: deadline.unwrap_or_default(),
            operation: Some(id),
        }),
        Ok(()) = tokio::signal::ctrl_c() => Err(Failure::Interrupted(id)),
    }
}

async fn poll(
    client: &ManagerClient,
    mut operation: Operation,
    progress: &mut Progress<'_, '_>,
) -> Result<Operation, Failure> {
    let mut away: Option<Instant> = None;
    loop {
        progress.show(&operation, client).await;
        if operation.status == OperationStatus::Done {
            return Ok(operation);
        }
        tokio::time::sleep(POLL).await;
        match client.operation(&operation.id).await {
            Ok(next) => {
                operation = next;
                away = None;
            }
            Err(error) if may_pass(&error) => {
                let since = *away.get_or_insert_with(Instant::now);
                progress.away(&error);
                if since.elapsed() > PATIENCE {
                    return Err(Failure::Lost {
                        operation: operation.id,
                        away: since.elapsed(),
                        error,
                    });
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn may_pass(error: &ClientError) -> bool {
    error.is_transient() || matches!(error, ClientError::TimedOut { .. })
}
