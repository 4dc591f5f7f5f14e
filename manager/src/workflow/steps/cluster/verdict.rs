//! Decides whether a report is a success, which error the caller gets otherwise, and what is written in either case.

use common::api::deployer::{Report, ResourceReport, ResourceState};
use common::api::error::{ErrorBody, ErrorCode, Location};
use common::model::Deployment;

use crate::domain::deployment;
use crate::store::deployments::Objects;
use crate::store::{Changes, deployments};
use crate::workflow::step::{Done, Failure, Run, StepError};

pub enum Verdict {
    Fine,
    Failed(Box<ErrorBody>),
}

/// The number of resources that a message names.
const NAMED: usize = 5;
/// The maximum number of causes in an error. They are also shown in the deployment's state.
const CAUSES: usize = 100;

pub fn of(report: &Report) -> Verdict {
    let failed: Vec<_> = report
        .resources
        .iter()
        .filter(|resource| resource.state == ResourceState::Failed)
        .collect();
    if failed.is_empty() {
        return of_outputs(&report.output_errors);
    }
    let mut causes: Vec<_> = failed.iter().map(|resource| cause(resource)).collect();
    let all_late = causes.iter().all(|cause| cause.code == ErrorCode::Timeout);
    causes.truncate(CAUSES);
    let (code, what) = match all_late {
        true => (ErrorCode::Timeout, "were not ready in time"),
        false => (ErrorCode::ResourcesFailed, "failed"),
    };
    let names: Vec<_> = failed
        .iter()
        .take(NAMED)
        .map(|resource| resource.name.as_str())
        .collect();
    let more = if failed.len() > NAMED { ", …" } else { "" };
    let message = format!(
        "{} of {} resources {what}: {}{more}",
        failed.len(),
        report.resources.len(),
        names.join(", ")
    );
    causes.extend(uncounted(failed.len()).map(|rest| ErrorBody::new(code, rest)));
    Verdict::Failed(Box::new(ErrorBody::new(code, message).caused_by(causes)))
}

/// Every resource is ready, but an output may still refer to a missing value.
fn of_outputs(errors: &[ErrorBody]) -> Verdict {
    let Some(first) = errors.first() else {
        return Verdict::Fine;
    };
    let message = format!(
        "{} outputs have no value, though all resources are ready",
        errors.len()
    );
    let error = ErrorBody::new(first.code, message);
    Verdict::Failed(Box::new(
        error.caused_by(errors.iter().take(CAUSES).cloned()),
    ))
}

/// The sentence in place of the omitted causes.
fn uncounted(failed: usize) -> Option<String> {
    let rest = failed.checked_sub(CAUSES).filter(|&rest| rest > 0)?;
    Some(format!(
        "{rest} more resources failed; the deployment's resources show the state of each"
    ))
}

/// Warns about objects that are removed from the record but stay in the cluster, because another owner has replaced
/// them. Without the warning, callers would take them for deleted.
pub fn left_alone(report: &Report) -> Vec<String> {
    let resources = report.resources.iter();
    let left = resources
        .filter(|resource| resource.state == ResourceState::Gone && resource.action.is_none());
    let reported = left.filter_map(|resource| {
        let reason = resource.reason.as_deref()?;
        Some(format!("{}: {reason}", resource.name))
    });
    reported.take(CAUSES).collect()
}

/// The result of a job: the existing objects, and the deployment, marked as failed if the job failed.
pub async fn conclude(
    run: &Run<'_>,
    before: Deployment,
    objects: &Objects,
    verdict: Verdict,
) -> Result<Done, StepError> {
    let mut changes = Changes::default();
    deployments::put_objects(run.store(), &mut changes, &before.name, objects).await?;
    let Verdict::Failed(error) = verdict else {
        deployments::put(&mut changes, &before)?;
        return Ok(Done {
            changes,
            ..Done::default()
        });
    };
    let failed = deployment::failed_by(&run.goal.intent, before, &error);
    deployments::put(&mut changes, &failed)?;
    Err(Failure {
        error,
        changes,
        deployment: Some(failed),
    }
    .into())
}

/// What is written for either outcome, or nothing if the store failed.
pub fn changes(concluded: &mut Result<Done, StepError>) -> Option<&mut Changes> {
    match concluded {
        Ok(done) => Some(&mut done.changes),
        Err(StepError::Failed(failure)) => Some(&mut failure.changes),
        Err(StepError::Store(_)) => None,
    }
}

/// The resource's own error, or one made from its state.
fn cause(resource: &ResourceReport) -> ErrorBody {
    let reported = resource.error.clone();
    let mut cause = reported.unwrap_or_else(|| {
        let reason = resource
            .reason
            .as_deref()
            .unwrap_or("it failed, and the cluster does not say why");
        ErrorBody::new(
            ErrorCode::ResourcesFailed,
            format!("{}: {reason}", resource.name),
        )
    });
    let location = cause.location.get_or_insert_with(Location::default);
    location
        .resource
        .get_or_insert_with(|| resource.name.to_string());
    cause
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(resources: serde_json::Value) -> Option<(ErrorCode, String)> {
        let report = Report {
            resources: serde_json::from_value(resources).unwrap(),
            ..Report::default()
        };
        match of(&report) {
            Verdict::Fine => None,
            Verdict::Failed(error) => Some((error.code, error.message)),
        }
    }

    #[test]
    fn a_report_without_failures_is_fine() {
        assert_eq!(
            verdict(json!([{"name": "a", "type": "Pod", "state": "READY"}])),
            None
        );
    }

    #[test]
    fn an_output_without_a_value_is_a_failure_of_its_own() {
        let missing = ErrorBody::new(ErrorCode::Timeout, "output ip has no value");
        let report = Report {
            output_errors: vec![missing],
            ..Report::default()
        };
        let Verdict::Failed(error) = of(&report) else {
            panic!("no failure")
        };
        assert_eq!(error.code, ErrorCode::Timeout);
        assert_eq!(error.causes[0].message, "output ip has no value");
    }

    #[test]
    fn of_very_many_failures_the_first_are_told_and_the_rest_counted() {
        let failed = |n: usize| json!({"name": format!("r{n}"), "type": "Pod", "state": "FAILED"});
        let report = Report {
            resources: serde_json::from_value((0..CAUSES + 20).map(failed).collect()).unwrap(),
            ..Report::default()
        };
        let Verdict::Failed(error) = of(&report) else {
            panic!("no failure")
        };
        assert_eq!(error.causes.len(), CAUSES + 1);
        let last = &error.causes[CAUSES].message;
        assert!(last.starts_with("20 more resources failed"), "{last}");
    }

    #[test]
    fn what_was_not_ours_any_more_is_told_and_what_was_deleted_is_not() {
        let resources = json!([
            {"name": "a", "type": "Pod", "state": "GONE", "reason": "another has its name"},
            {"name": "b", "type": "Pod", "state": "GONE", "action": "DELETED"},
            {"name": "c", "type": "Pod", "state": "GONE"},
        ]);
        let report = Report {
            resources: serde_json::from_value(resources).unwrap(),
            ..Report::default()
        };
        assert_eq!(left_alone(&report), ["a: another has its name"]);
    }

    #[test]
    fn late_resources_alone_are_a_time_out_and_others_a_failure() {
        let late = json!({"name": "a", "type": "Pod", "state": "FAILED", "error": {"code": "TIMEOUT", "message": "a: not ready"}});
        let bad = json!({"name": "b", "type": "Pod", "state": "FAILED", "reason": "no such image"});
        let expected = (
            ErrorCode::Timeout,
            "1 of 1 resources were not ready in time: a".to_owned(),
        );
        assert_eq!(verdict(json!([late])), Some(expected));
        let expected = (
            ErrorCode::ResourcesFailed,
            "2 of 2 resources failed: a, b".to_owned(),
        );
        assert_eq!(verdict(json!([late, bad])), Some(expected));
    }
}
