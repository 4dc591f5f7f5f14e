//! Kinds of OpenShift. A BuildConfig is ready at once: its builds are objects that the deployment does not have.

use serde_json::Value;

use super::Readiness;
use super::fields::{condition, number, unobserved};

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
}
