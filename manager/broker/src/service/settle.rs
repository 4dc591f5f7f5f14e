//! Follows running operations to their end, and records it. After a restart, everything that ran is followed again.

use std::time::Duration;

use common::model::OperationId;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::bindings::credentials;
use super::{Answer, Broker, Context, deploy};
use crate::catalog::Plan;
use crate::error::BrokerError;
use crate::port::{BackendError, Edit, Outcome, Version, Versioned};
use crate::record::{
    Binding, Caller, DASHBOARD_URL, Flags, Instance, InstancePhase, Kind, Operation, Progress,
    Release,
};

/// Waits between attempts while the store fails: the first, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// How a request for an instance is answered.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Whether before the operation has ended.
    pub is_async: bool,
    /// Whether not before its configuration is expanded.
    pub expands_first: bool,
    /// The status of a success.
    pub status: u16,
}

impl How {
    /// Nothing is expanded to delete something, and nobody asks for its dashboard.
    pub fn of_delete(is_async: bool) -> Self {
        Self {
            is_async,
            expands_first: false,
            status: 200,
        }
    }

    pub fn of(plan: &Plan, status: u16) -> Self {
        Self {
            is_async: plan.is_async,
            expands_first: plan.expands_first,
            status,
        }
    }
}

impl Broker {
    /// Follows all operations that an earlier process began. Returns their number.
    ///
    /// # Errors
    /// The records cannot be read.
    pub async fn recover(&self) -> Result<usize, BackendError> {
        let (instances, bindings) = self.backend.unfinished().await?;
        for instance in &instances {
            drop(self.follow_instance(instance));
        }
        for binding in &bindings {
            drop(self.follow_binding(binding));
        }
        Ok(instances.len() + bindings.len())
    }

    /// Follows the operation in a task of its own. The result is the record after its end.
    pub(super) fn follow_instance(
        &self,
        instance: &Instance,
    ) -> impl Future<Output = Result<Instance, BrokerError>> + use<> {
        let (broker, instance) = (self.clone(), instance.clone());
        ended(self.runtime.spawn(async move {
            let settle = || broker.settle_instance(&instance.id, &instance.operation.id);
            persistently(settle).await
        }))
    }

    /// 202 at once or after the expansion, or the status of a success when the operation has succeeded. A create that
    /// failed is forgotten.
    pub(super) async fn instance_answer(
        &self,
        instance: Instance,
        how: How,
    ) -> Result<Answer, BrokerError> {
        let begun = &instance.operation;
        let following = self.follow_instance(&instance);
        if how.is_async {
            let accepted = Answer::accepted(&begun.id);
            if !how.expands_first {
                return Ok(accepted);
            }
            if let Some(outputs) = self.backend.promised(&begun.id).await? {
                let url = outputs.get(DASHBOARD_URL).and_then(Value::as_str);
                return Ok(accepted.with_dashboard(url));
            }
        }
        let ended = following.await?;
        if begun.kind == Kind::Create && has_failed(begun, &ended.operation) {
            self.forget_instance(&ended).await?;
        }
        succeeded(begun, &ended.operation)?;
        match begun.kind {
            Kind::Delete => Ok(Answer::empty(how.status)),
            Kind::Create | Kind::Update => Ok(Answer::of_instance(how.status, &ended)),
        }
    }

    /// The same of a binding.
    pub(super) fn follow_binding(
        &self,
        binding: &Binding,
    ) -> impl Future<Output = Result<Binding, BrokerError>> + use<> {
        let (broker, binding) = (self.clone(), binding.clone());
        ended(self.runtime.spawn(async move {
            let settle = || broker.settle_binding(&binding);
            persistently(settle).await
        }))
    }

    async fn settle_instance(
        &self,
        id: &str,
        operation: &OperationId,
    ) -> Result<Instance, BackendError> {
        loop {
            let found = self.backend.instance(id).await?;
            // A create that failed and left nothing is forgotten.
            let Versioned {
                mut record,
                version,
            } = found.ok_or(BackendError::Conflict)?;
            if record.operation.id != *operation || !record.operation.is_running() {
                return Ok(record);
            }
            let progress = match record.operation.kind {
                Kind::Delete => self.remove_instance(&record).await?,
                Kind::Create | Kind::Update => {
                    let outcome = self.backend.outcome(operation).await?;
                    if let Outcome::Succeeded { outputs } = &outcome {
                        record.take_outputs(outputs);
                    }
                    progress(&outcome)
                }
            };
            let record = record.ended(progress);
            let edit = Edit::Instance(record.clone(), Some(version));
            match self.backend.commit(vec![edit]).await {
                Err(BackendError::Conflict) => {}
                committed => return committed.map(|()| record),
            }
        }
    }

    async fn settle_binding(&self, binding: &Binding) -> Result<Binding, BackendError> {
        loop {
            let found = self.backend.binding(&binding.instance, &binding.id).await?;
            let Versioned {
                mut record,
                version,
            } = found.ok_or(BackendError::Conflict)?;
            let operation = &record.operation;
            if operation.id != binding.operation.id || !operation.is_running() {
                return Ok(record);
            }
            if record.release == Some(Release::Wanted) {
                match self.begin_release(record, version).await {
                    Ok(()) | Err(BackendError::Conflict) => continue,
                    Err(error) => return Err(error),
                }
            }
            let progress = match operation.kind {
                Kind::Delete => self.released(&record).await?,
                Kind::Create | Kind::Update => self.bound(&mut record).await?,
            };
            let record = record.ended(progress);
            let edit = Edit::Binding(record.clone(), Some(version));
            match self.backend.commit(vec![edit]).await {
                Err(BackendError::Conflict) => {}
                committed => return committed.map(|()| record),
            }
        }
    }

    /// Begins to take back what the binding edited. If that is refused, there is nothing left of it.
    async fn begin_release(
        &self,
        mut record: Binding,
        version: Version,
    ) -> Result<(), BackendError> {
        let id = self.backend.operation_id()?;
        record.release = Some(Release::Began(id.clone()));
        let write = deploy::release_write(&record, id);
        let edit = Edit::Binding(record.clone(), Some(version.clone()));
        match self.backend.start(vec![edit], write).await {
            Err(BackendError::Refused(refusal)) if refusal.status == 404 => {
                record.release = None;
                let edit = Edit::Binding(record, Some(version));
                self.backend.commit(vec![edit]).await
            }
            Err(BackendError::Refused(refusal)) => {
                let progress = removal(Some(refusal.description));
                let edit = Edit::Binding(record.ended(progress), Some(version));
                self.backend.commit(vec![edit]).await
            }
            started => started,
        }
    }

    /// The end of a release, and the removal after it.
    async fn released(&self, record: &Binding) -> Result<Progress, BackendError> {
        if let Some(Release::Began(id)) = &record.release {
            let outcome = self.backend.outcome(id).await?;
            if let Outcome::Failed { .. } = outcome {
                return Ok(progress(&outcome));
            }
        }
        self.removed(record).await
    }

    /// The end of a bind. Outputs that are no answer leave nothing.
    async fn bound(&self, record: &mut Binding) -> Result<Progress, BackendError> {
        let outcome = self.backend.outcome(&record.operation.id).await?;
        let Outcome::Succeeded { outputs } = outcome else {
            return Ok(progress(&outcome));
        };
        match credentials::answer(outputs, &record.requires) {
            Ok(answer) => {
                record.answer = answer;
                Ok(Progress::Succeeded)
            }
            Err(reason) => {
                let removed = self.removed(record).await?;
                Ok(Progress::Failed {
                    description: format!("the Service Plan has a fault: {reason}"),
                    is_callers: false,
                    is_undone: removed == Progress::Succeeded,
                    flags: Flags::default(),
                })
            }
        }
    }

    async fn removed(&self, record: &Binding) -> Result<Progress, BackendError> {
        let caller = &record.operation.caller;
        let failure = self.backend.remove(&record.deployment, caller).await?;
        Ok(removal(failure))
    }

    /// Deletes what is left of an instance: its bindings first.
    async fn remove_instance(&self, instance: &Instance) -> Result<Progress, BackendError> {
        loop {
            let bindings = self.backend.bindings(&instance.id).await?;
            let mut left = bindings.into_iter();
            let left = left.find(|found| found.record.phase() != InstancePhase::Gone);
            let Some(Versioned { record, version }) = left else {
                break;
            };
            let caller = &instance.operation.caller;
            if record.has_unbind {
                if let Some(failed) = self.unbind_first(record, version, caller).await? {
                    return Ok(failed);
                }
                continue;
            }
            if let Some(failure) = self.backend.remove(&record.deployment, caller).await? {
                return Ok(removal(Some(failure)));
            }
            tracing::info!(
                instance = instance.id,
                binding = record.id,
                "binding {} is deleted with its instance {}",
                record.id,
                instance.id
            );
            let context = Context {
                caller: caller.clone(),
                ..Context::default()
            };
            let id = self.backend.operation_id()?;
            let mut record = record;
            record.operation = deploy::operation(id, Kind::Delete, String::new(), &context);
            let edit = Edit::Binding(record.ended(Progress::Succeeded), Some(version));
            match self.backend.commit(vec![edit]).await {
                Ok(()) | Err(BackendError::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        let (name, caller) = (&instance.deployment, &instance.operation.caller);
        Ok(removal(self.backend.remove(name, caller).await?))
    }

    /// Deletes a binding that may have edits to take back. Returns its failure.
    async fn unbind_first(
        &self,
        mut record: Binding,
        version: Version,
        caller: &Caller,
    ) -> Result<Option<Progress>, BackendError> {
        if record.phase() != InstancePhase::Deleting {
            let context = Context {
                caller: caller.clone(),
                ..Context::default()
            };
            let id = self.backend.operation_id()?;
            record.wants_release();
            record.operation = deploy::operation(id, Kind::Delete, String::new(), &context);
            let edit = Edit::Binding(record.clone(), Some(version));
            match self.backend.commit(vec![edit]).await {
                Ok(()) => {}
                Err(BackendError::Conflict) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let ended = Box::pin(self.settle_binding(&record)).await?;
        let progress = ended.operation.progress;
        Ok(matches!(progress, Progress::Failed { .. }).then_some(progress))
    }

    /// Forgets an instance whose create failed in its own request and left nothing: the platform knows the result.
    pub(super) async fn forget_instance(&self, ended: &Instance) -> Result<(), BrokerError> {
        let found = self.backend.instance(&ended.id).await?;
        match found.filter(|found| found.record == *ended) {
            Some(found) if is_undone(&ended.operation) => {
                let edit = Edit::ForgetInstance(found.record, found.version);
                forgotten(self.backend.commit(vec![edit]).await)
            }
            _ => Ok(()),
        }
    }

    /// The same of a binding.
    pub(super) async fn forget_binding(&self, ended: &Binding) -> Result<(), BrokerError> {
        let found = self.backend.binding(&ended.instance, &ended.id).await?;
        match found.filter(|found| found.record == *ended) {
            Some(found) if is_undone(&ended.operation) => {
                let edit = Edit::ForgetBinding(found.record, found.version);
                forgotten(self.backend.commit(vec![edit]).await)
            }
            _ => Ok(()),
        }
    }
}

/// Somebody else may have changed or forgotten it first.
fn forgotten(committed: Result<(), BackendError>) -> Result<(), BrokerError> {
    match committed {
        Err(BackendError::Conflict) => Ok(()),
        committed => Ok(committed?),
    }
}

/// Whether the operation that a request began has ended in success. What comes after a delete does not undo it.
pub fn succeeded(begun: &Operation, ended: &Operation) -> Result<(), BrokerError> {
    let is_other = begun.kind != Kind::Delete && begun.id != ended.id;
    match &ended.progress {
        _ if is_other => Err(BrokerError::concurrency()),
        Progress::Succeeded => Ok(()),
        Progress::InProgress | Progress::Failed { .. } => Err(failed(ended)),
    }
}

pub fn has_failed(begun: &Operation, ended: &Operation) -> bool {
    begun.id == ended.id && matches!(ended.progress, Progress::Failed { .. })
}

/// The answer to a request whose operation failed within it.
fn failed(operation: &Operation) -> BrokerError {
    let Progress::Failed {
        description,
        is_callers,
        ..
    } = &operation.progress
    else {
        return BrokerError::concurrency();
    };
    BrokerError {
        instance_usable: operation.instance_usable(),
        update_repeatable: operation.update_repeatable(),
        ..BrokerError::new(if *is_callers { 400 } else { 500 }, description)
    }
}

fn is_undone(operation: &Operation) -> bool {
    matches!(
        operation.progress,
        Progress::Failed {
            is_undone: true,
            ..
        }
    )
}

fn progress(outcome: &Outcome) -> Progress {
    match outcome {
        Outcome::Succeeded { .. } => Progress::Succeeded,
        Outcome::Failed {
            description,
            is_callers,
            is_undone,
            flags,
        } => Progress::Failed {
            description: description.clone(),
            is_callers: *is_callers,
            is_undone: *is_undone,
            flags: *flags,
        },
    }
}

/// How much of it still works after a failed delete is not known.
fn removal(failure: Option<String>) -> Progress {
    failure.map_or(Progress::Succeeded, |description| Progress::Failed {
        description,
        is_callers: false,
        is_undone: false,
        flags: Flags::default(),
    })
}

/// Repeats it while the store fails.
async fn persistently<T, F>(settle: impl Fn() -> F) -> Result<T, BackendError>
where
    F: Future<Output = Result<T, BackendError>>,
{
    let (mut wait, longest) = WAITS;
    loop {
        match settle().await {
            Err(BackendError::Fault(reason)) => {
                tracing::error!(
                    reason,
                    "an operation of the broker cannot be recorded; trying again: {reason}"
                );
            }
            settled => return settled,
        }
        tokio::time::sleep(wait).await;
        wait = longest.min(wait * 2);
    }
}

async fn ended<T>(task: JoinHandle<Result<T, BackendError>>) -> Result<T, BrokerError> {
    let joined = task.await;
    let failed = |error: tokio::task::JoinError| BackendError::Fault(error.to_string());
    Ok(joined.map_err(failed)??)
}
