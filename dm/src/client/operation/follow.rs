//! Follows an operation by its events, in spite of dropped connections and restarts of the manager.
//!
//! ```text
//! events ──operation, resource──► progress        done ──► the operation
//!   ▲  └─broken off─► pause ─► ask for the operation ─┐
//!   └───────────── Last-Event-ID ◄────────────────────┘
//! ```
//!
//! The operation goes on whoever watches it: all that is lost with a connection is the sight of it.

use std::pin::pin;
use std::time::{Duration, Instant};

use common::api::manager::OperationEvent;
use common::client::{ClientError, ManagerClient};
use common::model::{Operation, OperationStatus};
use futures::TryStreamExt;

use super::error::OperationError;
use crate::client::operation::progress::Progress;
use crate::error::Failure;

/// Before connecting again: a person hardly notices it, and neither does the manager.
const PAUSE: Duration = Duration::from_millis(250);
/// A restart of the manager takes seconds; after so long somebody must look.
const PATIENCE: Duration = Duration::from_secs(60);
/// A write's timeout is the manager's to watch: this much later nobody does any more.
const GRACE: Duration = Duration::from_secs(15);

/// How long to wait at all.
#[derive(Debug, Clone, Copy)]
pub enum WaitLimit {
    /// As long as the manager works on it, given this time for it.
    Write(Option<Duration>),
    /// No longer than this, if anything.
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

/// Follows it to its end. An operation that ended with an error is a result here.
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
        // The first to be polled, so that nothing is shown yet when Ctrl-C would still end the program.
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
    /// Since when nothing comes any more.
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
            // Where something on the way holds events back, this is how the end is seen.
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

    /// An error that may pass is told and borne for a while.
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
