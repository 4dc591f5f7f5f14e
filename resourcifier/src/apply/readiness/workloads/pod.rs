//! Pods: ready, or done.

use serde_json::Value;

use crate::apply::readiness::Readiness;
use crate::apply::readiness::fields::{condition, number};

pub fn readiness(live: &Value) -> Readiness {
    let phase = live["status"]["phase"].as_str().unwrap_or("Pending");
    let is_ready = condition(live, "Ready").is_some_and(|ready| ready.is_true);
    match phase {
        "Succeeded" => Readiness::Ready,
        "Failed" => Readiness::Failed(trouble(live).unwrap_or_else(|| "it failed".to_owned())),
        _ if is_ready => Readiness::Ready,
        _ => match (failure(live), trouble(live)) {
            (Some(reason), _) => Readiness::Failed(reason),
            (None, Some(reason)) => Readiness::Waiting(reason),
            (None, None) => Readiness::Waiting(format!("it is {phase} and not ready")),
        },
    }
}

/// Restarts after which a container that keeps ending is taken to go on so.
const RESTARTS: i64 = 3;

/// What holds a pod up for good: an image that cannot be had, a container that ends again and again. The first failed
/// pull (`ErrImagePull`) may be the network's fault, so the second one counts.
pub fn failure(pod: &Value) -> Option<String> {
    let is_final = |container: &&Value| {
        let restarts = number(container, "/restartCount", 0);
        match container["state"]["waiting"]["reason"].as_str() {
            Some("ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull") => true,
            Some("CrashLoopBackOff") => restarts >= RESTARTS,
            _ => false,
        }
    };
    containers(pod).find(is_final).and_then(container_trouble)
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["initContainerStatuses", "containerStatuses"].into_iter();
    lists
        .filter_map(|list| pod["status"][list].as_array())
        .flatten()
}

/// What holds a pod up: where it cannot go, or what a container of it waits for or died of.
pub fn trouble(pod: &Value) -> Option<String> {
    if let Some(message) = pod["status"]["message"]
        .as_str()
        .filter(|message| !message.is_empty())
    {
        return Some(message.to_owned());
    }
    if let Some(scheduled) = condition(pod, "PodScheduled").filter(|scheduled| scheduled.is_false) {
        return Some(scheduled.sentence().to_owned());
    }
    containers(pod).find_map(container_trouble)
}

fn container_trouble(container: &Value) -> Option<String> {
    let name = container["name"].as_str()?;
    let waiting = &container["state"]["waiting"];
    let ended = if container["state"]["terminated"].is_object() {
        &container["state"]["terminated"]
    } else {
        &container["lastState"]["terminated"]
    };
    let exit = ended["exitCode"].as_i64().filter(|code| *code != 0);
    let reason = waiting["reason"]
        .as_str()
        .filter(|reason| !matches!(*reason, "ContainerCreating" | "PodInitializing"));
    match (reason, exit) {
        (Some(reason), Some(code)) => Some(format!(
            "container {name} is in {reason}; it ended with exit code {code}"
        )),
        (Some(reason), None) => {
            let message = waiting["message"]
                .as_str()
                .map(|message| format!(": {message}"))
                .unwrap_or_default();
            Some(format!("container {name} is in {reason}{message}"))
        }
        (None, Some(code)) => Some(format!("container {name} ended with exit code {code}")),
        (None, None)
            if container["state"]["running"].is_object() && container["ready"] == false =>
        {
            Some(format!("container {name} runs, but is not ready"))
        }
        (None, None) => None,
    }
}
