//! Plans of the Inter-operator after their objects are applied: the edits of live objects, and the wait until the status
//! template says that the operation has ended.
//!
//! An edit is in no record of objects. So a failure takes it back at once, and a repeated step makes it again.

use std::sync::Arc;
use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::plan::{EditRequest, ObjectEdit, PlanAction, PlanAnswer, PlanState, PlanStatus};
use common::model::Output;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::expand;
use crate::domain::deployment::service_binding;
use crate::domain::operation::intent::Intent;
use crate::store::{StoreError, operations};
use crate::workflow::expansion::choice::{self, Choice};
use crate::workflow::step::{Failure, Run, StepError};

/// Pauses between two looks at a status: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(3));
/// Looks that may fail one after the other: templates see objects that are only half there.
const FAILURES: usize = 10;
/// The deadline of one edit.
const EDIT: Duration = Duration::from_secs(60);

/// What a plan said at the end of its operation.
pub struct Ended {
    pub result: Result<Vec<Output>, Box<ErrorBody>>,
    /// What platforms learn after a failure: `instance_usable` and `update_repeatable`.
    pub flags: Vec<Output>,
}

/// The plans in the configuration that the operation applies. A way back has none: the objects are as they were.
pub async fn of(run: &Run<'_>) -> Result<Vec<PlanAnswer>, StoreError> {
    match run.goal.intent {
        Intent::Create(_) | Intent::Update(_) => operations::plans(run.store(), run.id()).await,
        _ => Ok(Vec::new()),
    }
}

/// Edits live objects, and waits for the end of the operation.
pub async fn finish(run: &Run<'_>, plans: &[PlanAnswer]) -> Result<Ended, StepError> {
    let edited = edit(run, plans, |edit| edit.patch.clone()).await?;
    let ended = match edited {
        Ok(()) => wait(run).await?,
        Err(error) => Ended::failed(error),
    };
    if ended.result.is_err() {
        take_back(run, plans).await?;
    }
    Ok(ended)
}

/// Takes all edits back. If that is not possible, the log says so.
pub async fn take_back(run: &Run<'_>, plans: &[PlanAnswer]) -> Result<(), StepError> {
    if let Err(error) = edit(run, plans, |edit| edit.back.clone()).await? {
        let (id, error) = (run.id(), error.message);
        tracing::warn!(operation.id = %id, error, "operation {id} cannot take back what it changed of others' objects: {error}");
    }
    Ok(())
}

async fn edit(
    run: &Run<'_>,
    plans: &[PlanAnswer],
    patch: impl Fn(&ObjectEdit) -> Value,
) -> Result<Result<(), Box<ErrorBody>>, StoreError> {
    let edits = plans.iter().flat_map(|plan| &plan.edits);
    let edits = edits.map(|edit| ObjectEdit {
        object: edit.object.clone(),
        patch: patch(edit),
        back: Value::Null,
    });
    let edits: Vec<_> = edits.collect();
    if edits.is_empty() {
        return Ok(Ok(()));
    }
    let attempt = async || {
        // Each attempt needs a number of its own.
        let fence = run.fence().await;
        let request = Arc::new(EditRequest {
            deployment: run.deployment().clone(),
            edits: edits.clone(),
            on_behalf_of: run.acting.clone(),
            fence: Some(fence.map_err(|error| Failure::internal(run.id(), &error).error)?),
        });
        let edited = run.deployer().edit(request, EDIT).await;
        edited.map_err(Box::<ErrorBody>::from)
    };
    Ok(run.dependencies.retry.persist(attempt).await.map(drop))
}

/// Looks at the status until it says that the operation has ended.
async fn wait(run: &Run<'_>) -> Result<Ended, StepError> {
    let latest = choice::latest(run.store(), run.deployment()).await?;
    let subject = expand::subject(run, latest.as_ref()).await?;
    let record = choice::record(run.store(), run.deployment(), latest.as_ref()).await?;
    let (choice, input) = (
        Choice::Recorded(record),
        operations::input(run.store(), run.id()).await?,
    );
    let is_binding = service_binding::is_one(&subject.broker);
    let (mut pause, longest) = PAUSES;
    let mut failures = 0;
    loop {
        let expansions = &run.dependencies.expansions;
        let asked = expansions.ask(
            &subject,
            input.clone(),
            &choice,
            PlanAction::Status,
            run.deadline,
        );
        let asked = tokio::select! {
            biased;
            _ = run.watch.stopped() => return Ok(Ended::failed(run.stop_error())),
            asked = asked => asked,
        };
        let waiting = match asked {
            Ok(answers) => match ended(answers, is_binding) {
                Ok(ended) => {
                    run.watch.waits_for(None);
                    return Ok(ended);
                }
                Err(waiting) => {
                    failures = 0;
                    waiting
                }
            },
            Err(error) if error.code == ErrorCode::Timeout => return Ok(Ended::failed(error)),
            Err(error) if failures == FAILURES => return Ok(Ended::failed(exhausted(run, &error))),
            Err(error) => {
                failures += 1;
                error.message
            }
        };
        run.watch.waits_for(Some(&waiting));
        if Instant::now() + pause >= run.deadline {
            return Ok(Ended::failed(late(&waiting)));
        }
        tokio::select! {
            _ = run.watch.stopped() => return Ok(Ended::failed(run.stop_error())),
            () = tokio::time::sleep(pause) => {}
        }
        pause = longest.min(pause * 2);
    }
}

/// The end of all plans, or what they wait for. The first failure ends them all.
fn ended(answers: Vec<PlanAnswer>, is_binding: bool) -> Result<Ended, String> {
    let statuses: Vec<_> = answers.into_iter().filter_map(|one| one.status).collect();
    if let Some(failed) = statuses.iter().find(|one| one.state == PlanState::Failed) {
        return Ok(Ended {
            flags: flags(failed),
            ..Ended::failed(refused(failed))
        });
    }
    if let Some(waiting) = statuses
        .iter()
        .find(|one| one.state == PlanState::InProgress)
    {
        return Err(waiting_for(waiting));
    }
    let outputs = statuses.into_iter().map(|status| match is_binding {
        true => answer(&status.response),
        false => Ok(shown(status)),
    });
    let outputs: Result<Vec<_>, _> = outputs.collect();
    Ok(Ended {
        result: outputs.map(|all| all.concat()),
        flags: Vec::new(),
    })
}

impl Ended {
    fn failed(error: Box<ErrorBody>) -> Self {
        Self {
            result: Err(error),
            flags: Vec::new(),
        }
    }
}

fn waiting_for(status: &PlanStatus) -> String {
    match (&status.unknown, status.response.as_str()) {
        (Some(unknown), _) => {
            format!(
                "the plan's status says {unknown:?}, which is none of in progress, succeeded, failed"
            )
        }
        (None, "") => "the plan's status says that it is in progress".to_owned(),
        (None, response) => response.to_owned(),
    }
}

fn refused(status: &PlanStatus) -> Box<ErrorBody> {
    let reason = match (status.error.as_str(), status.response.as_str()) {
        ("", "") => "the plan's status says that it failed, and not why",
        ("", response) => response,
        (error, _) => error,
    };
    Box::new(ErrorBody::new(ErrorCode::ResourcesFailed, reason))
}

fn late(waiting: &str) -> Box<ErrorBody> {
    let message = format!("the plan's status was not succeeded in time: {waiting}");
    Box::new(ErrorBody::new(ErrorCode::Timeout, message))
}

fn exhausted(run: &Run<'_>, error: &ErrorBody) -> Box<ErrorBody> {
    let message = format!(
        "Retry threshold reached for {}.\n{}",
        run.deployment(),
        error.message
    );
    Box::new(ErrorBody {
        message,
        ..error.clone()
    })
}

/// The answer of a bind: the keys of its response.
fn answer(response: &str) -> Result<Vec<Output>, Box<ErrorBody>> {
    let parsed = match response.trim() {
        "" => Ok(Map::new()),
        text => serde_json::from_str::<Map<String, Value>>(text),
    };
    let outputs = parsed.map(|parsed| {
        let outputs = parsed.into_iter();
        outputs
            .map(|(name, value)| Output { name, value })
            .collect()
    });
    // The text is secret, so it is not quoted.
    outputs.map_err(|_| {
        let message =
            "bind.response of the plan's status is not a JSON object with the key credentials";
        Box::new(ErrorBody::new(ErrorCode::InvalidConfiguration, message))
    })
}

/// What users see of an instance.
fn shown(status: PlanStatus) -> Vec<Output> {
    let url = status.dashboard_url.map(|url| ("dashboard_url", url));
    let response = Some(status.response).filter(|text| !text.is_empty());
    let response = response.map(|text| ("description", text));
    let outputs = url.into_iter().chain(response);
    outputs
        .map(|(name, value)| Output {
            name: name.to_owned(),
            value: value.into(),
        })
        .collect()
}

fn flags(status: &PlanStatus) -> Vec<Output> {
    let flags = [
        ("instance_usable", status.instance_usable),
        ("update_repeatable", status.update_repeatable),
    ];
    let stated = flags
        .into_iter()
        .filter_map(|(name, flag)| Some((name, flag?)));
    stated
        .map(|(name, flag)| Output {
            name: name.to_owned(),
            value: flag.into(),
        })
        .collect()
}
