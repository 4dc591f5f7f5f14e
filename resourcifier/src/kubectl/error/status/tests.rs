//! Answers of real API servers, captured from Kubernetes 1.36.

use super::*;

fn captured(text: &str) -> KubectlError {
    let (code, body) = text.split_once('\n').unwrap();
    error(code.parse().unwrap(), body.as_bytes())
}

macro_rules! captured {
    ($name:literal) => {
        captured(include_str!(concat!("captured/", $name)))
    };
}

#[test]
fn captured_answers_mean_what_they_say() {
    use ObjectFault::*;
    let cases = [
        (
            captured!("conflict"),
            Conflict,
            "other field managers own fields that it sets: \"other\": .data.a, .data.b; leave",
        ),
        (
            captured!("invalid"),
            Refused,
            "Deployment.apps \"d\" is invalid: [spec.replicas: Invalid value: -1",
        ),
        (
            captured!("unknown_field"),
            Refused,
            ".dta: field not declared in schema",
        ),
        (
            captured!("wrong_type"),
            Refused,
            ".data.a: expected string, got",
        ),
        (
            captured!("no_namespace"),
            Missing,
            "namespaces \"nope\" not found",
        ),
        (
            captured!("no_object"),
            Missing,
            "configmaps \"zzz\" not found",
        ),
        (
            captured!("no_group"),
            Unserved,
            "could not find the requested resource",
        ),
        (
            captured!("no_kind"),
            Unserved,
            "could not find the requested resource",
        ),
        (
            captured!("other_uid"),
            OtherUid,
            "does not match the UID in record",
        ),
        (
            captured!("forbidden"),
            Forbidden,
            "forbidden: eve may not patch configmaps in namespace default; a Role",
        ),
        (
            captured!("terminating"),
            Refused,
            "because it is being terminated",
        ),
        (
            captured!("quota"),
            Refused,
            "exceeded quota: one, requested: count/configmaps=1",
        ),
        (
            captured!("webhook_away"),
            Transient,
            "failed calling webhook",
        ),
        (
            captured!("policy_denied"),
            Refused,
            "denied request: no limits here",
        ),
        (captured!("too_large"), Refused, "limit is 3145728"),
        (
            captured!("policy_denied_as_invalid"),
            Refused,
            "denied request: updates to field are not allowed, field is immutable",
        ),
        (
            captured!("stale_version"),
            Changed,
            "the object has been modified",
        ),
        (
            captured!("not_absent"),
            Changed,
            "the object has been modified",
        ),
        (captured!("wrong_uid"), Changed, "metadata.uid"),
        (
            captured!("no_such_uid"),
            Changed,
            "no existing object was found",
        ),
        (
            captured!("other_version"),
            Changed,
            "does not match the ResourceVersion in record",
        ),
        (
            captured!("exists"),
            Exists,
            "configmaps \"e\" already exists",
        ),
    ];
    for (error, fault, part) in cases {
        assert_eq!(error.fault(), Some(fault), "{error}");
        assert!(error.to_string().contains(part), "{error}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn what_cannot_be_changed_is_known_by_the_reason_and_the_field() {
    let cases = [
        (captured!("immutable_selector"), "spec.selector"),
        (captured!("immutable_service"), "spec.clusterIPs[0]"),
        (captured!("immutable_secret"), "type"),
        (captured!("immutable_data"), "data"),
        (captured!("immutable_claim"), "spec"),
        (captured!("immutable_set"), "spec"),
        (captured!("immutable_role_ref"), "roleRef"),
        (captured!("immutable_by_rule"), "spec.x"),
    ];
    for (error, field) in cases {
        assert_eq!(error.fault(), Some(ObjectFault::Invalid), "{error}");
        let KubectlError::Object(error) = error else {
            panic!("{error}")
        };
        assert_eq!(error.causes[0].field, field);
    }
}

#[test]
fn a_conflict_names_each_field_and_its_manager() {
    let error = captured!("conflict");
    let fields: Vec<_> = error
        .conflicts()
        .iter()
        .map(|cause| (cause.field.as_str(), cause.message.as_str()))
        .collect();
    assert_eq!(
        fields,
        [
            (".data.a", "conflict with \"other\""),
            (".data.b", "conflict with \"other\"")
        ]
    );
}

#[test]
fn an_api_server_that_is_away_or_does_not_know_us_is_no_fault_of_the_object() {
    for (error, part) in [
        (captured!("away"), "connection refused"),
        (captured!("unauthorized"), "the kubeconfig's credentials"),
        (error(502, b""), "cannot be used"),
    ] {
        assert!(matches!(error, KubectlError::Unreachable(_)), "{error}");
        assert!(
            error.is_transient() && error.to_string().contains(part),
            "{error}"
        );
    }
}

#[test]
fn the_table_says_which_trouble_passes() {
    let status = |code: u16, reason: &str, message: &str| {
        let body = serde_json::json!({"kind": "Status", "code": code, "reason": reason, "message": message});
        error(code, body.to_string().as_bytes())
    };
    let cases = [
        (
            410,
            "Expired",
            "the provided continue parameter is too old",
            true,
        ),
        (
            429,
            "TooManyRequests",
            "the server has received too many requests",
            true,
        ),
        (503, "ServiceUnavailable", "apiserver not ready", true),
        (504, "Timeout", "request timed out", true),
        (
            500,
            "ServerTimeout",
            "the server cannot complete the request",
            true,
        ),
        (500, "", "etcdserver: request timed out", true),
        (500, "", "failed to create typed patch object", false),
        (
            409,
            "Conflict",
            "the object has been modified; please apply your changes to the latest version",
            true,
        ),
        (
            409,
            "AlreadyExists",
            "configmaps \"a\" already exists",
            true,
        ),
        (400, "BadRequest", "bad", false),
        (405, "MethodNotAllowed", "not supported", false),
    ];
    for (code, reason, message, transient) in cases {
        assert_eq!(
            status(code, reason, message).is_transient(),
            transient,
            "{code} {reason}"
        );
    }
}
