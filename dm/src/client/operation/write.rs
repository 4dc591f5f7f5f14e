//! Every write: start the operation, follow it, show the result.

use std::future::Future;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::manager::WriteQuery;
use common::client::ClientError;
use common::client::manager::Write;
use common::model::{Deployment, DeploymentStatus, Operation, OperationType, Rollback};
use common::request_id;

use super::error::OperationError;
use super::preview::show_preview;
use crate::client::operation::follow::{WaitLimit, follow};
use crate::client::operation::progress::Progress;
use crate::client::render::resources::outputs;
use crate::client::session::{Session, within};
use crate::error::Failure;
use crate::error::Sources;
use crate::terminal::text;

/// What a command does, for messages.
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
        OperationError::Refused {
            doing: self.doing.clone(),
            body: Box::new(body),
            sources: self.sources.clone(),
            operation: None,
        }
        .into()
    }

    /// The failure for an accepted operation that ended with an error.
    fn ended(&self, operation: Operation, body: ErrorBody) -> Failure {
        OperationError::Refused {
            doing: self.doing.clone(),
            body: Box::new(body),
            sources: self.sources.clone(),
            operation: Some(Box::new(operation)),
        }
        .into()
    }

    pub fn failed(&self, error: ClientError) -> Failure {
        match error {
            ClientError::Answered(body) => self.refused(*body),
            other => other.into(),
        }
    }
}

/// The query for a write in this session.
pub fn query(session: &Session<'_, '_>) -> WriteQuery {
    WriteQuery {
        timeout_ms: session.timeout_ms(),
        ..WriteQuery::default()
    }
}

/// `start` sends the request that starts the operation. `no_wait` shows the operation and does not follow it. If the manager
/// refuses to delete most objects, a user at a terminal is asked to allow it.
pub async fn write<F, S>(
    session: &mut Session<'_, '_>,
    subject: Subject,
    query: WriteQuery,
    no_wait: bool,
    start: F,
) -> Result<(), Failure>
where
    F: Fn(Write) -> S,
    S: Future<Output = Result<Operation, ClientError>>,
{
    let mut query = query;
    loop {
        let started = start(Write {
            query: query.clone(),
            // With a key, a start without an answer can be repeated.
            idempotency_key: Some(request_id::fresh()),
            ..Write::default()
        });
        let outcome = once(session, &subject, &query, no_wait, started).await;
        let refusal = outcome.as_ref().err().and_then(guarded);
        match refusal {
            Some(question) if !query.allow_deletes && session.terminal.agrees(&question) => {
                query.allow_deletes = true;
            }
            _ => return outcome,
        }
    }
}

/// The question to the user, if the guard against mass deletion refused.
fn guarded(failure: &Failure) -> Option<String> {
    let body = failure.body()?;
    let is_guard = body.code == ErrorCode::DeletesNotAllowed;
    is_guard.then(|| format!("{}\nDelete them?", text::lines(body.message.trim_end())))
}

async fn once(
    session: &mut Session<'_, '_>,
    subject: &Subject,
    query: &WriteQuery,
    no_wait: bool,
    started: impl Future<Output = Result<Operation, ClientError>>,
) -> Result<(), Failure> {
    let starting = async { started.await.map_err(|error| subject.failed(error)) };
    let operation = within(session.timeout, "starting the operation", starting).await?;
    if no_wait {
        return session.show(&operation, |operation| {
            let id = &operation.id;
            format!(
                "operation {id} has started: {}\nfollow it with: dm wait {id}\n",
                described(operation)
            )
        });
    }
    // A rollback may take as long as the write itself.
    let times = if query.rollback_on_failure { 2 } else { 1 };
    let patience = WaitLimit::Write(session.timeout.map(|timeout| timeout * times));
    wait(session, operation, subject, patience).await
}

/// Follows an operation and shows its result.
pub async fn wait(
    session: &mut Session<'_, '_>,
    operation: Operation,
    subject: &Subject,
    patience: WaitLimit,
) -> Result<(), Failure> {
    let mut operation = followed(session, operation, patience).await?;
    session.terminal.warn(&operation.warnings);
    if let Some(error) = operation.error.take() {
        if let Some(rollback) = &operation.rollback {
            session.terminal.note(&went_back(&operation, rollback));
        }
        return Err(subject.ended(operation, error));
    }
    match operation.operation_type {
        OperationType::Delete => session.show(&operation, |operation| {
            format!("{} is deleted\n", operation.deployment)
        }),
        OperationType::Test => session.show(&operation, |operation| {
            format!("the tests of {} have succeeded\n", operation.deployment)
        }),
        OperationType::Preview => show_preview(session, &operation.deployment).await,
        OperationType::Create
        | OperationType::Update
        | OperationType::Rollback
        | OperationType::Correct => show_deployment(session, &operation).await,
    }
}

/// The operation at its end.
pub async fn followed(
    session: &mut Session<'_, '_>,
    operation: Operation,
    patience: WaitLimit,
) -> Result<Operation, Failure> {
    let client = session.client.clone();
    let mut progress = Progress::new(session.terminal);
    let ended = follow(&client, operation, patience, &mut progress).await;
    let (tally, failures) = (progress.tally(), progress.failures());
    drop(progress);
    let error = ended.as_ref().ok().and_then(|ended| ended.error.as_ref());
    for line in failures.missing_in(error) {
        session.terminal.note(&line);
    }
    let ended = ended?;
    if let Some(line) = tally.line(&ended) {
        session.terminal.note(&line);
    }
    Ok(ended)
}

fn went_back(operation: &Operation, rollback: &Rollback) -> String {
    let name = &operation.deployment;
    match rollback {
        Rollback {
            error: Some(error), ..
        } => format!(
            "the rollback of {name} failed too: {}",
            text::line(&error.message)
        ),
        Rollback { to: Some(to), .. } => {
            format!("{name} failed and went back to {to}")
        }
        Rollback { to: None, .. } => {
            format!("{name} failed and was removed: there was no previous manifest")
        }
    }
}

/// The state of the deployment decides whether the write succeeded.
async fn show_deployment(
    session: &mut Session<'_, '_>,
    operation: &Operation,
) -> Result<(), Failure> {
    let deployment = session.client.deployment(&operation.deployment).await?;
    let width = session.terminal.width;
    session.show_with(&deployment, |deployment| result(deployment, width), notes)?;
    if deployment.state.status == DeploymentStatus::Failed {
        return Err(OperationError::DeploymentFailed {
            name: deployment.name,
            errors: deployment.state.errors,
        }
        .into());
    }
    Ok(())
}

fn result(deployment: &Deployment, width: Option<usize>) -> String {
    format!(
        "{} is {:?}\n{}",
        deployment.name,
        deployment.state.status,
        outputs(&deployment.outputs, width)
    )
}

fn notes(deployment: &Deployment) -> String {
    let notes = deployment.notes.as_deref().map(text::lines);
    notes.map_or_else(String::new, |notes| format!("\n{notes}\n"))
}

fn described(operation: &Operation) -> String {
    format!(
        "{} {}",
        operation.operation_type.name(),
        operation.deployment
    )
}
