//! The services that the manager depends on: why a call gave no result, and how each looks in the manager's readiness.

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use common::client::ClientError;
use common::server::observe::health::{Check, Readiness};

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The service refused the request, in its own words.
    #[error(transparent)]
    Refused(Box<ErrorBody>),
    #[error(transparent)]
    Expander(ClientError),
    #[error(transparent)]
    Deployer(ClientError),
    #[error("resourcifier did not answer every question of an access review")]
    Unanswered,
}

impl CallError {
    /// What a call to expandybird failed with.
    pub fn of_expander(error: ClientError) -> Self {
        match error {
            ClientError::Answered(body) => Self::Refused(body),
            error => Self::Expander(error),
        }
    }

    /// What a call to resourcifier failed with.
    pub fn of_deployer(error: ClientError) -> Self {
        match error {
            ClientError::Answered(body) => Self::Refused(body),
            error => Self::Deployer(error),
        }
    }
}

impl From<CallError> for Box<ErrorBody> {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(body) => body,
            CallError::Expander(error) => {
                Self::new(error.into_body(ErrorCode::ExpanderUnavailable))
            }
            CallError::Deployer(error) => {
                Self::new(error.into_body(ErrorCode::DeployerUnavailable))
            }
            CallError::Unanswered => {
                let message = error.to_string();
                Self::new(ErrorBody::new(ErrorCode::DeployerUnavailable, message))
            }
        }
    }
}

/// A service that takes longer to say how it is counts as down.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Ready if one of its instances says so. It names those that are not, and what they miss themselves.
pub fn check(name: &str, answers: Vec<(String, Result<Readiness, ClientError>)>) -> Check {
    let count = answers.len();
    let faults = answers.into_iter().filter_map(|(url, answer)| {
        let fault = match answer {
            Ok(readiness) => readiness.fault()?,
            // It names the URL.
            Err(error) => return Some(error.to_string()),
        };
        Some(match count {
            1 => fault,
            _ => format!("{name} at {url}: {fault}"),
        })
    });
    let faults: Vec<_> = faults.collect();
    let message = faults.join("; ");
    let left_out = faults.len();
    match left_out {
        0 => Check::ready(name, ""),
        _ if count == 1 => Check::down(name, message),
        _ if left_out < count => {
            Check::ready(name, format!("{left_out} of {count} left out: {message}"))
        }
        _ => Check::down(name, format!("none of {count} is ready: {message}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_ready_with_one_instance_and_names_those_that_are_not() {
        let says = |ready: bool| {
            Ok(Readiness {
                ready,
                checks: vec![match ready {
                    true => Check::ready("worker", ""),
                    false => Check::down("worker", "it ended"),
                }],
            })
        };
        let gone = || {
            Err(ClientError::Unreachable {
                service: "expandybird",
                url: "http://c:1".to_owned(),
                reason: "refused".to_owned(),
            })
        };
        let of = |answers: Vec<Result<Readiness, ClientError>>| {
            let urls = ["http://a:1", "http://b:1", "http://c:1"].map(str::to_owned);
            let found = check("expandybird", urls.into_iter().zip(answers).collect());
            (found.ready, found.message)
        };
        let fault = "it is not ready: worker: it ended";
        let unreachable = "expandybird at http://c:1 cannot be reached: refused; is it running?";
        assert_eq!(of(vec![says(true)]), (true, String::new()));
        assert_eq!(of(vec![says(false)]), (false, fault.to_owned()));
        assert_eq!(
            of(vec![says(true), says(false), gone()]),
            (
                true,
                format!("2 of 3 left out: expandybird at http://b:1: {fault}; {unreachable}")
            )
        );
        assert_eq!(
            of(vec![says(false), says(false)]),
            (
                false,
                format!(
                    "none of 2 is ready: expandybird at http://a:1: {fault}; expandybird at http://b:1: {fault}"
                )
            )
        );
    }
}
