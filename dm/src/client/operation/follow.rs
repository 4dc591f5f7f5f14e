//! Follows an operation by its events, across dropped connections and restarts of the manager.
//!
//! ```text
//! events ──operation, resource──► progress        done ──► the operation
//!   ▲  └─broken─► pause ─► ask for the operation ─────┐
//!   └───────────── Last-Event-ID ◄────────────────────┘
//! ```
//!
//! The operation does not need a follower: a lost connection only interrupts the progress output.

use std::pin::pin;
use std::time::{Duration, Instant};

use common::api::manager::OperationEvent;
use common::client::{ClientError, ManagerClient};
use common::model::{Operation, OperationStatus};
use futures::TryStreamExt;

use super::error::OperationError;
use crate::client::operation::progress::Progress;
use crate::error::Failure;

/// Pause before a new connection: too short for a user to notice, and long enough for the manager.
const PAUSE: Duration = Duration::from_millis(250);
/// A restart of the manager takes seconds. After this time, an operator must look.
const PATIENCE: Duration = Duration::from_secs(60);
/// The manager applies the time limit of a write. If the operation still runs this much later, dm stops waiting.
const GRACE: Duration = Duration::from_secs(15);

/// How long to wait for the end of an operation.
#[derive(Debug, Clone, Copy)]
pub enum WaitLimit {
    /// As long as the manager may work on the operation.
    Write(Option<Duration>),
    /// This long, if given.
    Wait(Option<Duration>),
}

impl WaitLimit {
    fn deadline(self) -> Option<Duration> {
        match self {
            Self::Write(timeout) => timeout.map(|timeout| timeout + GRACE),
            Self::Wait(timeout) => timeout,
        }
    }
}

/// Follows the operation to its end. An operation that ended with an error is a result, not a failure.
pub async fn follow(
    client: &ManagerClient,
    operation: Operation,
    patience: WaitLimit,
    progress: &mut Progress<'_, '_>,
) -> Result<Operation, Failure> {
    let (id, deployment) = (operation.id.clone(), operation.deployment.clone());
    let deadline = patience.deadline();
    let expired = async {
        match deadline {
            Some(deadline) => tokio::time::sleep(deadline).await,
            None => std::future::pending().await,
        }
    };
    let follower = Follower {
        client,
        operation,
        last: None,
        away: None,
        progress,
    };
    tokio::select! {
        // Polled first, so that Ctrl-C is handled before any progress is shown.
        biased;
        Ok(()) = tokio::signal::ctrl_c() => Err(OperationError::Interrupted { operation: id, deployment }.into()),
        () = expired => Err(OperationError::TimedOut {
            operation: id,
            within: deadline.unwrap_or_default(),
        }.into()),
        done = follower.finish() => done,
    }
}

struct Follower<'f, 'p, 't> {
    client: &'f ManagerClient,
    operation: Operation,
    /// The id of the last event.
    last: Option<String>,
    /// Since when the manager is unreachable.
    away: Option<Instant>,
    progress: &'f mut Progress<'p, 't>,
}

impl Follower<'_, '_, '_> {
    async fn finish(mut self) -> Result<Operation, Failure> {
        self.progress.operation(&self.operation);
        while self.operation.status != OperationStatus::Done {
            if let Err(error) = self.events().await {
                self.bear(error)?;
            }
            if self.operation.status == OperationStatus::Done {
                break;
            }
            tokio::time::sleep(PAUSE).await;
            // Finds the end even if a proxy delays the events.
            match self.client.operation(&self.operation.id).await {
                Ok(operation) => self.now(operation),
                Err(error) => self.bear(error)?,
            }
        }
        Ok(self.operation)
    }

    /// Takes events until the operation is done or the stream ends.
    async fn events(&mut self) -> Result<(), ClientError> {
        let events = self
            .client
            .events(&self.operation.id, self.last.as_deref())
            .await?;
        let mut events = pin!(events);
        while let Some((id, event)) = events.try_next().await? {
            self.last = Some(id);
            match event {
                OperationEvent::Operation(operation) => self.now(operation),
                OperationEvent::Resource(report) => self.progress.resource(&report),
            }
            if self.operation.status == OperationStatus::Done {
                break;
            }
        }
        Ok(())
    }

    fn now(&mut self, operation: Operation) {
        self.away = None;
        self.progress.operation(&operation);
        self.operation = operation;
    }

    /// Shows a temporary error, and fails when it lasts too long.
    fn bear(&mut self, error: ClientError) -> Result<(), Failure> {
        if !may_pass(&error) {
            return Err(error.into());
        }
        let away = self.away.get_or_insert_with(Instant::now).elapsed();
        self.progress.away(&error);
        if away > PATIENCE {
            return Err(OperationError::Lost {
                operation: self.operation.id.clone(),
                unavailable: away,
                error,
            }
            .into());
        }
        Ok(())
    }
}

fn may_pass(error: &ClientError) -> bool {
    error.is_transient() || matches!(error, ClientError::TimedOut { .. })
}
