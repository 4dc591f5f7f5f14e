//! The checks that store nothing.

use common::api::deployer::ResourceDiff;
use common::api::error::ErrorBody;
use common::api::manager::{DiffQuery, Expand, UpdateDeployment};
use common::client::{ClientError, ManagerClient};
use common::model::{DeploymentName, Version};

use super::Check;
use crate::authoring::compatibility::VersionStep;
use crate::authoring::test::subject::Previous;
use crate::authoring::version::compare::compare;
use crate::authoring::version::expander::{ExampleExpander, Place};
use crate::bundle::Bundle;
use crate::error::{ExitCode, Failure, exit_code};

const VERSIONS: &str = "versions";
const EXPANSION: &str = "expansion";
const OBJECTS: &str = "objects";

/// Whether the version keeps the promises of the previous one.
pub async fn versions(promises: &Previous, expander: &ExampleExpander<'_>) -> Check {
    let [before, now] = match promises {
        Previous::None(reason) => return Check::ok(VERSIONS, reason),
        Previous::Version(releases) => releases.as_ref(),
    };
    let Some(comparison) = compare(before, now, expander).await else {
        return Check::ok(VERSIONS, "not compared: the template has no version");
    };
    let before = comparison.before;
    let uncompared = comparison.uncompared.into_iter();
    match comparison.violations.is_empty() {
        true => {
            let mut check = Check::ok(VERSIONS, kept(before, comparison.now));
            check.findings.extend(uncompared);
            check
        }
        false => {
            let since = |sentence| format!("since {before}: {sentence}");
            let violations = comparison.violations.into_iter().map(since);
            Check::failed(VERSIONS, violations.chain(uncompared).collect())
        }
    }
}

fn kept(before: Version, now: Version) -> String {
    match VersionStep::between(before, now) {
        VersionStep::Major => {
            format!("{now} is a major version: it need not keep what {before} promised")
        }
        VersionStep::Minor | VersionStep::Patch => format!("it keeps what {before} promised"),
    }
}

pub async fn expansion(
    client: &ManagerClient,
    name: &DeploymentName,
    example: &Bundle,
    place: Place<'_>,
) -> Result<Check, Failure> {
    let request = Expand {
        name: name.clone(),
        content: example.content.clone(),
        imports: example.imports.clone(),
        namespace: place.namespace.cloned(),
        cluster: place.cluster.cloned(),
        seed: None,
        capabilities: None,
    };
    match client.expand(&request).await {
        Ok(expansion) => {
            let count = expansion.expanded_config.resources.len();
            let noun = if count == 1 { "object" } else { "objects" };
            Ok(Check::ok(
                EXPANSION,
                format!("it expands to {count} {noun}"),
            ))
        }
        Err(error) => Ok(Check::failed(EXPANSION, faults(error)?)),
    }
}

/// Uses a dry run of the API server. Nothing is stored.
pub async fn objects(
    client: &ManagerClient,
    name: &DeploymentName,
    example: &Bundle,
    place: Place<'_>,
) -> Result<Check, Failure> {
    let request = UpdateDeployment {
        content: Some(example.content.clone()),
        imports: example.imports.clone(),
        ..UpdateDeployment::default()
    };
    let query = DiffQuery {
        namespace: place.namespace.cloned(),
        cluster: place.cluster.cloned(),
        ..DiffQuery::default()
    };
    let diff = match client.diff(name, &request, &query).await {
        Ok(diff) => diff,
        Err(error) => return Ok(Check::failed(OBJECTS, faults(error)?)),
    };
    let refused: Vec<String> = diff.resources.iter().filter_map(refusal).collect();
    let count = diff.resources.len();
    Ok(match refused.is_empty() {
        true => Check::ok(OBJECTS, format!("the cluster accepts all {count}")),
        false => Check::failed(OBJECTS, refused),
    })
}

fn refusal(diff: &ResourceDiff) -> Option<String> {
    let error = diff.error.as_ref()?;
    Some(format!("{}: {}", diff.basis.object, error.message))
}

/// A fault of the template is the result of a check. Missing permissions and unavailable services are failures of the test.
fn faults(error: ClientError) -> Result<Vec<String>, Failure> {
    match error {
        ClientError::Answered(body) if exit_code(body.code) == ExitCode::Failed => {
            Ok(sentences(&body))
        }
        error => Err(error.into()),
    }
}

pub fn sentences(body: &ErrorBody) -> Vec<String> {
    let causes = body.causes.iter().map(ToString::to_string);
    std::iter::once(body.message.clone())
        .chain(causes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_major_version_need_not_keep_promises() {
        for (now, expected) in [
            (
                "v2",
                "v2.0.0 is a major version: it need not keep what v1.0.0 promised",
            ),
            ("v1.1", "it keeps what v1.0.0 promised"),
            ("v1.0.1", "it keeps what v1.0.0 promised"),
        ] {
            let sentence = kept("v1".parse().unwrap(), now.parse().unwrap());
            assert_eq!(sentence, expected);
        }
    }
}
