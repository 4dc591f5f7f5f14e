//! Why something is not ready, for people: what its pods say, what the cluster noted, the last lines of a log.
//!
//! Asked only after a failure or a timeout. Logs are quoted unchanged, up to a limit.

mod builds;
pub mod evidence;
mod pods;
mod related;

use std::time::Duration;

use common::api::error::{ErrorBody, ErrorCode};
use serde_json::Value;

use crate::apply::readiness::pod_trouble;
use crate::kubectl::{ClusterApi, Log, ObjectEvent, object_ref};

/// The time for each look: the answer is late already.
const WITHIN: Duration = Duration::from_secs(5);
/// How many pods, and events of one object, are reported.
const REPORTED: usize = 3;
/// Lines of a log, and characters of all of them: an error's message holds them.
const LINES: usize = 20;
const LOG_CHARS: usize = 3_000;

/// What is known of the cause.
#[derive(Debug, Clone, Default)]
pub struct Causes {
    /// For the sentence, where others than the object are to blame.
    pub summary: Option<String>,
    /// One for each thing that is known.
    pub details: Vec<ErrorBody>,
}

/// What holds the object up, as far as the cluster says.
pub async fn of(kubectl: &dyn ClusterApi, live: &Value, code: ErrorCode) -> Causes {
    let mut details = noted(kubectl, live).await;
    let pods = match pods::of(kubectl, live, WITHIN).await {
        Ok(pods) => pods,
        Err(error) => {
            details.push(format!("its pods cannot be read: {error}"));
            Vec::new()
        }
    };
    let troubles = pods.iter().filter_map(|pod| Some((pod, pod_trouble(pod)?)));
    let troubles: Vec<(&Value, String)> = troubles.take(REPORTED).collect();
    let described: Vec<String> = troubles
        .iter()
        .map(|(pod, trouble)| format!("pod {}: {trouble}", name(pod)))
        .collect();
    if let Some((pod, _)) = troubles.first() {
        if live["kind"] != "Pod" {
            details.extend(noted(kubectl, pod).await);
        }
        details.extend(log(kubectl, pod).await);
    }
    Causes {
        summary: (!described.is_empty() && live["kind"] != "Pod").then(|| described.join("; ")),
        details: details
            .into_iter()
            .map(|detail| ErrorBody::new(code, detail))
            .collect(),
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// The last warnings about an object.
async fn noted(kubectl: &dyn ClusterApi, live: &Value) -> Vec<String> {
    let object = object_ref(live);
    let uid = live["metadata"]["uid"].as_str();
    let events = match kubectl.events(&object, uid, WITHIN).await {
        Ok(events) => events,
        Err(error) => return vec![format!("the events of {object} cannot be read: {error}")],
    };
    let warnings = events.iter().rev().filter(|event| event.warning);
    let described = |event: &ObjectEvent| {
        let times = if event.count > 1 {
            format!(", {} times", event.count)
        } else {
            String::new()
        };
        format!(
            "{object}: {} ({}{times})",
            event.message.trim(),
            event.reason
        )
    };
    warnings.take(REPORTED).map(described).collect()
}

/// The last lines of the container that is to blame; of its last run, if it was started again.
async fn log(kubectl: &dyn ClusterApi, pod: &Value) -> Option<String> {
    let container = blamed(pod)?;
    let container_name = container["name"].as_str()?;
    let previous = container["restartCount"].as_i64().unwrap_or(0) > 0
        && container["state"]["terminated"].is_null();
    let log = Log {
        namespace: pod["metadata"]["namespace"].as_str()?,
        pod: name(pod),
        container: container_name,
        lines: LINES,
        previous,
    };
    let text = match kubectl.log(log, WITHIN).await {
        Ok(text) => text,
        Err(error) => {
            return Some(format!(
                "the log of container {container_name} of pod {} cannot be read: {error}",
                name(pod)
            ));
        }
    };
    let text = last(text.trim_end());
    (!text.is_empty()).then(|| {
        format!(
            "the last lines of container {container_name} of pod {}:\n{text}",
            name(pod)
        )
    })
}

/// The first container that has run and is not well.
fn blamed(pod: &Value) -> Option<&Value> {
    let lists = ["initContainerStatuses", "containerStatuses"].into_iter();
    let mut containers = lists
        .filter_map(|list| pod["status"][list].as_array())
        .flatten();
    containers.find(|container| {
        let has_run = container["state"]["running"].is_object()
            || container["state"]["terminated"].is_object()
            || container["lastState"]["terminated"].is_object();
        let ended_well = container["state"]["terminated"]["exitCode"] == 0;
        has_run && container["ready"] != true && !ended_well
    })
}

/// The last lines, as many as fit; of a line that is too long alone, its beginning. Nothing is cut at its front: half a
/// secret would not be known for one.
fn last(text: &str) -> String {
    let (mut room, mut kept) = (LOG_CHARS, Vec::new());
    for line in text.lines().rev().take(LINES) {
        match line.char_indices().nth(room) {
            Some((end, _)) if kept.is_empty() => kept.push(format!("{}…", &line[..end])),
            Some(_) => break,
            None => kept.push(line.to_owned()),
        }
        room = room.saturating_sub(line.chars().count());
    }
    kept.reverse();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_log_the_last_lines_are_told_as_far_as_they_fit() {
        let many: Vec<String> = (0..50).map(|n| format!("line {n}")).collect();
        let described = last(&many.join("\n"));
        assert!(
            described.starts_with("line 30\n") && described.ends_with("line 49"),
            "{described}"
        );
        let long = last(&format!("before\n{}", "x".repeat(10_000)));
        assert_eq!(long, "x".repeat(LOG_CHARS) + "…");
        let two = last(&format!("{}\nend", "x".repeat(LOG_CHARS)));
        assert_eq!(two, "end");
    }
}
