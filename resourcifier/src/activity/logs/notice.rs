//! Why a log is missing, in plain words. The kubelet's own errors go to this service's log.

use common::api::activity::LogsRequest;

use super::container::{Container, State};
use crate::activity::family::Member;
use crate::kubectl::{KubectlError, ObjectFault};

/// Why there is nothing to read at all.
pub fn nothing(request: &LogsRequest, pods: &[(&String, &Member)]) -> String {
    match (&request.container, pods.is_empty(), request.follow) {
        (_, true, true) => "there are no pods yet".to_owned(),
        (_, true, false) => "there are no pods, so there are no logs".to_owned(),
        (Some(name), false, _) => {
            format!("none of the {} pods has a container {name}", pods.len())
        }
        (None, false, _) => "the pods have no containers yet".to_owned(),
    }
}

/// Why the log of a container cannot be there, as its pod shows it.
pub fn missing(container: &Container, request: &LogsRequest) -> Option<String> {
    let (pod, name) = (&container.pod, &container.name);
    if request.previous && !container.has_restarted() {
        return Some(format!(
            "container {name} of pod {pod} has not restarted, so it has no previous log"
        ));
    }
    match &container.state {
        State::Begun => None,
        State::Waiting(reason) => Some(format!(
            "container {name} of pod {pod} has not started: {reason}"
        )),
    }
}

/// What the answer to a request for a log means.
pub enum Refusal {
    /// Others are not better.
    Failed(KubectlError),
    /// This log is missing.
    Notice(String),
}

pub fn refusal(error: KubectlError, container: &Container, previous: bool) -> Refusal {
    let is_final = matches!(
        error,
        KubectlError::Missing { .. } | KubectlError::Halted(_) | KubectlError::Malformed { .. }
    );
    if is_final || error.fault() == Some(ObjectFault::Forbidden) {
        return Refusal::Failed(error);
    }
    let (pod, name) = (&container.pod, &container.name);
    tracing::info!(pod, container = name, %error, "a log cannot be read");
    let raw = error.to_string();
    Refusal::Notice(if error.fault() == Some(ObjectFault::Missing) {
        format!("pod {pod} is gone")
    } else if previous && raw.contains("previous terminated container") {
        format!("the node has kept no previous log of container {name} of pod {pod}")
    } else if raw.contains("is waiting to start") {
        format!("container {name} of pod {pod} has not started")
    } else {
        let node = match &container.node {
            Some(node) => format!("node {node}"),
            None => "its node".to_owned(),
        };
        format!(
            "the log of container {name} of pod {pod} cannot be had: {node} does not give it to the API server. A node that is down, or only simulated, has no logs"
        )
    })
}
