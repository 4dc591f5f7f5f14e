//! Kinds of OpenShift. A BuildConfig that a Template waits for is ready when its latest build is complete.

use serde_json::Value;

use super::Readiness;
use super::fields::{condition, number, unobserved};

/// What a Template writes at objects that its instance waits for.
const WAIT_FOR_READY: &str = "template.alpha.openshift.io/wait-for-ready";

/// Its latest replication controller is rolled out, and its pods are available.
pub fn deployment_config(live: &Value) -> Readiness {
    if let Some(waiting) = unobserved(live) {
        return waiting;
    }
    if number(live, "/spec/replicas", 0) == 0 {
        return Readiness::Ready;
    }
    match condition(live, "Progressing") {
        Some(progressing) if progressing.is_false => {
            return Readiness::Failed(progressing.sentence().to_owned());
        }
        Some(progressing) if progressing.reason == "NewReplicationControllerAvailable" => (),
        Some(progressing) => return Readiness::waiting(progressing.sentence()),
        None => return Readiness::waiting("it has not been rolled out yet"),
    }
    match condition(live, "Available") {
        Some(available) if available.is_true => Readiness::Ready,
        Some(available) => Readiness::waiting(available.sentence()),
        None => Readiness::waiting("its pods are not available yet"),
    }
}

/// It has the host under which it is reachable.
pub fn route(live: &Value) -> Readiness {
    match live["spec"]["host"].as_str() {
        Some(host) if !host.is_empty() => Readiness::Ready,
        _ => Readiness::waiting("it has no host yet"),
    }
}

/// It has produced its image.
pub fn build(live: &Value) -> Readiness {
    match live["status"]["phase"].as_str() {
        Some("Complete") => Readiness::Ready,
        Some(phase @ ("Failed" | "Error" | "Cancelled")) => {
            let message = live["status"]["message"].as_str().unwrap_or_default();
            Readiness::Failed(format!("the build is {phase}: {message}"))
        }
        _ => Readiness::waiting("the build is not complete yet"),
    }
}

/// Without the annotation, a BuildConfig is ready at once: many are built only on demand.
pub fn build_config(live: &Value, latest: Option<&Value>) -> Readiness {
    let annotation = &live["metadata"]["annotations"][WAIT_FOR_READY];
    if annotation.as_str() != Some("true") {
        return Readiness::Ready;
    }
    let asked = number(live, "/status/lastVersion", 0);
    let Some(latest) = latest.filter(|build| build_number(build) >= asked) else {
        return Readiness::waiting("it waits for its builds, and none has started yet");
    };
    let name = latest["metadata"]["name"].as_str().unwrap_or_default();
    match build(latest) {
        Readiness::Ready => Readiness::Ready,
        Readiness::Waiting(reason) => Readiness::Waiting(format!("build {name}: {reason}")),
        Readiness::Failed(reason) => Readiness::Failed(format!("build {name}: {reason}")),
    }
}

/// Builds of one BuildConfig are counted from 1.
pub fn build_number(build: &Value) -> i64 {
    let number = build["metadata"]["annotations"]["openshift.io/build.number"].as_str();
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::apply::readiness::of;

    fn said(api_version: &str, kind: &str, rest: Value) -> String {
        let mut live = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "generation": 2}});
        let rest = rest.as_object().cloned().unwrap_or_default();
        live.as_object_mut().unwrap().extend(rest);
        match of(&live) {
            Readiness::Ready => "ready".to_owned(),
            Readiness::Waiting(reason) => format!("waiting: {reason}"),
            Readiness::Failed(reason) => format!("failed: {reason}"),
        }
    }

    #[test]
    fn a_deployment_config_is_ready_when_it_is_rolled_out_and_available() {
        let said = |conditions: Value| {
            let status = json!({"observedGeneration": 2, "conditions": conditions});
            let rest = json!({"spec": {"replicas": 1}, "status": status});
            said("apps.openshift.io/v1", "DeploymentConfig", rest)
        };
        let done = json!({"type": "Progressing", "status": "True", "reason": "NewReplicationControllerAvailable"});
        for (conditions, expected) in [
            (json!([]), "waiting: it has not been rolled out yet"),
            (
                json!([{"type": "Progressing", "status": "True", "message": "rolling"}]),
                "waiting: rolling",
            ),
            (
                json!([{"type": "Progressing", "status": "False", "message": "no image"}]),
                "failed: no image",
            ),
            (json!([done]), "waiting: its pods are not available yet"),
            (
                json!([done, {"type": "Available", "status": "True"}]),
                "ready",
            ),
        ] {
            assert_eq!(said(conditions), expected);
        }
    }

    #[test]
    fn a_route_has_a_host_and_a_build_is_complete() {
        for (kind, rest, expected) in [
            ("Route", json!({"spec": {}}), "waiting: it has no host yet"),
            ("Route", json!({"spec": {"host": "a.example"}}), "ready"),
            ("Build", json!({}), "waiting: the build is not complete yet"),
            ("Build", json!({"status": {"phase": "Complete"}}), "ready"),
            (
                "Build",
                json!({"status": {"phase": "Failed", "message": "no source"}}),
                "failed: the build is Failed: no source",
            ),
        ] {
            let group = format!("{}.openshift.io/v1", kind.to_lowercase());
            assert_eq!(said(&group, kind, rest), expected);
        }
    }

    #[test]
    fn a_build_config_that_is_waited_for_is_ready_when_its_latest_build_is() {
        let config = |wait: &str, last: i64| {
            json!({"apiVersion": "build.openshift.io/v1", "kind": "BuildConfig", "status": {"lastVersion": last},
                "metadata": {"name": "web", "annotations": {WAIT_FOR_READY: wait}}})
        };
        let made = |number: &str, phase: &str| {
            json!({"status": {"phase": phase, "message": "no source"},
                "metadata": {"name": format!("web-{number}"), "annotations": {"openshift.io/build.number": number}}})
        };
        let complete = made("1", "Complete");
        assert_eq!(build_config(&config("false", 0), None), Readiness::Ready);
        assert_eq!(of(&config("false", 0)), Readiness::Ready);
        let none = "it waits for its builds, and none has started yet";
        assert_eq!(of(&config("true", 0)), Readiness::waiting(none));
        assert_eq!(
            build_config(&config("true", 1), Some(&complete)),
            Readiness::Ready
        );
        // A change of the configuration has asked for another one.
        assert_eq!(
            build_config(&config("true", 2), Some(&complete)),
            Readiness::waiting(none)
        );
        assert_eq!(
            build_config(&config("true", 10), Some(&made("10", "Running"))),
            Readiness::waiting("build web-10: the build is not complete yet")
        );
        assert_eq!(
            build_config(&config("true", 2), Some(&made("2", "Failed"))),
            Readiness::Failed("build web-2: the build is Failed: no source".to_owned())
        );
    }
}
