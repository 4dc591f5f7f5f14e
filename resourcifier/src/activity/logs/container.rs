//! The containers of a pod, as far as their logs are concerned.

use common::model::ResourceName;
use serde_json::Value;

use crate::apply;

/// One container of a pod.
#[derive(Debug, Clone)]
pub struct Container {
    pub resource: ResourceName,
    pub namespace: String,
    pub pod: String,
    pub node: Option<String>,
    pub name: String,
    pub state: State,
    uid: String,
    restarts: u64,
}

/// One run of a container: each restart begins a new log.
pub type Key = (String, String, u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It runs, or ran.
    Begun,
    /// It has never run, for this reason.
    Waiting(String),
}

impl Container {
    pub fn key(&self) -> Key {
        (self.uid.clone(), self.name.clone(), self.restarts)
    }

    pub fn has_restarted(&self) -> bool {
        self.restarts > 0
    }
}

/// The containers of a pod: those of this name, or else all that do the pod's work, and the init containers that still
/// hold it up.
pub fn of(pod: &Value, resource: &ResourceName, named: Option<&str>) -> Vec<Container> {
    let list = |key: &str| pod["spec"][key].as_array().into_iter().flatten();
    let inits = list("initContainers").map(|spec| (spec, true));
    let others = list("containers").map(|spec| (spec, false));
    let extra = list("ephemeralContainers").map(|spec| (spec, true));
    let all = inits.chain(others).chain(extra);
    let is_wanted = |name: &str, only_if_named: bool| match named {
        Some(named) => named == name,
        None => !only_if_named || holds_up(pod, name),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let metadata = &pod["metadata"];
    all.filter_map(|(spec, only_if_named)| {
        let name = spec["name"].as_str()?;
        is_wanted(name, only_if_named).then(|| Container {
            resource: resource.clone(),
            namespace: text(&metadata["namespace"]),
            pod: text(&metadata["name"]),
            node: pod["spec"]["nodeName"].as_str().map(str::to_owned),
            name: name.to_owned(),
            state: state(pod, name),
            uid: apply::uid(pod).unwrap_or_default().to_owned(),
            restarts: restarts(pod, name),
        })
    })
    .collect()
}

fn status<'p>(pod: &'p Value, name: &str) -> Option<&'p Value> {
    let lists = [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ];
    lists
        .into_iter()
        .filter_map(|list| pod["status"][list].as_array())
        .flatten()
        .find(|status| status["name"] == name)
}

fn restarts(pod: &Value, name: &str) -> u64 {
    status(pod, name)
        .and_then(|status| status["restartCount"].as_u64())
        .unwrap_or_default()
}

/// Whether an init container runs, or has failed.
fn holds_up(pod: &Value, name: &str) -> bool {
    let Some(state) = status(pod, name).map(|status| &status["state"]) else {
        return false;
    };
    let ended = &state["terminated"];
    let is_over = ended.is_object() && ended["exitCode"] == 0;
    (state["running"].is_object() || ended.is_object() || restarts(pod, name) > 0) && !is_over
}

fn state(pod: &Value, name: &str) -> State {
    if pod["spec"]["nodeName"].as_str().is_none() {
        return State::Waiting(unscheduled(pod));
    }
    // A node that does not report containers may have their logs.
    let Some(status) = status(pod, name) else {
        return State::Begun;
    };
    let waiting = &status["state"]["waiting"];
    if !waiting.is_object() || restarts(pod, name) > 0 {
        return State::Begun;
    }
    let part = |key: &str| waiting[key].as_str().filter(|text| !text.is_empty());
    let reason = match (part("reason"), part("message")) {
        (Some(reason), Some(message)) => format!("{reason}: {message}"),
        (Some(reason), None) => reason.to_owned(),
        (None, Some(message)) => message.to_owned(),
        (None, None) => "the cluster does not say why".to_owned(),
    };
    State::Waiting(reason)
}

fn unscheduled(pod: &Value) -> String {
    let conditions = pod["status"]["conditions"].as_array();
    let scheduled = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "PodScheduled" && condition["status"] == "False");
    let message = scheduled.and_then(|condition| condition["message"].as_str());
    match message.filter(|message| !message.is_empty()) {
        Some(message) => format!("the pod has no node yet: {message}"),
        None => "the pod has no node yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resource() -> ResourceName {
        ResourceName::parse("web").unwrap()
    }

    fn pod(statuses: Value, inits: Value) -> Value {
        json!({
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "u1"},
            "spec": {
                "nodeName": "n1",
                "initContainers": [{"name": "init"}],
                "containers": [{"name": "main"}, {"name": "side"}],
            },
            "status": {"containerStatuses": statuses, "initContainerStatuses": inits},
        })
    }

    fn names(found: &[Container]) -> Vec<&str> {
        found.iter().map(|found| found.name.as_str()).collect()
    }

    #[test]
    fn init_containers_are_shown_while_they_hold_the_pod_up_or_when_they_are_named() {
        for (state, expected) in [
            (json!({"running": {}}), vec!["init", "main", "side"]),
            (
                json!({"terminated": {"exitCode": 1}}),
                vec!["init", "main", "side"],
            ),
            (json!({"terminated": {"exitCode": 0}}), vec!["main", "side"]),
            (json!({"waiting": {}}), vec!["main", "side"]),
        ] {
            let pod = pod(json!([]), json!([{"name": "init", "state": state}]));
            assert_eq!(names(&of(&pod, &resource(), None)), expected, "{state}");
            assert_eq!(names(&of(&pod, &resource(), Some("init"))), ["init"]);
        }
    }

    #[test]
    fn a_container_that_never_ran_says_why() {
        let waiting =
            json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}});
        let statuses = json!([
            {"name": "main", "state": waiting, "restartCount": 0},
            {"name": "side", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3},
        ]);
        let found = of(&pod(statuses, json!([])), &resource(), None);
        let expected = "ImagePullBackOff: no such image".to_owned();
        assert_eq!(found[0].state, State::Waiting(expected));
        assert_eq!(found[1].state, State::Begun);
        assert!(found[1].has_restarted() && !found[0].has_restarted());
    }

    #[test]
    fn a_pod_without_a_node_says_why() {
        let mut pod = pod(json!([]), json!([]));
        pod["spec"]["nodeName"] = Value::Null;
        pod["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "message": "0/1 nodes are available"}]);
        let expected = "the pod has no node yet: 0/1 nodes are available".to_owned();
        let found = of(&pod, &resource(), None);
        assert_eq!(found[0].state, State::Waiting(expected));
    }
}
