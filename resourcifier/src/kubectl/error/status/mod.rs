//! Reads the API server's refusals, `Status` documents, into errors. One table has the meaning of each.

use serde::Deserialize;

use super::{Cause, KubectlError, ObjectError, ObjectFault, forbidden};

/// The reason of one field in a conflict.
const FIELD_CONFLICT: &str = "FieldManagerConflict";

/// The reason of a status with faults of fields, and the reasons of faults that only a change can have: a new object
/// with the same value could be valid. Admission policies and webhooks can use the first, but their causes name no
/// field.
const INVALID: &str = "Invalid";
const OF_CHANGES: &[&str] = &["FieldValueInvalid", "FieldValueForbidden"];
/// Only a precondition contains a UID, so this fault means that another object has the name.
const UID_FIELD: &str = "metadata.uid";

/// What each status means for a retry. The first matching row wins: code, reason, part of the message (`""`: any).
///
/// Server-side apply answers malformed objects with 500 and no reason, so 500 alone does not mean that the server is in
/// trouble.
const TABLE: &[(u16, &str, &str, ObjectFault)] = {
    use ObjectFault::{Changed, Exists, Missing, OtherUid, Refused, Transient, Unserved};
    &[
        (404, "", "could not find the requested resource", Unserved),
        (404, "", "", Missing),
        (408, "", "", Transient),
        (409, "Conflict", "the UID in the precondition", OtherUid),
        (409, "AlreadyExists", "", Exists),
        (409, "Conflict", "", Changed),
        (410, "", "", Transient),
        (429, "", "", Transient),
        (500, "InternalError", "", Transient),
        (500, "ServerTimeout", "", Transient),
        (500, "", "etcdserver: ", Transient),
        (503, "", "", Transient),
        (504, "", "", Transient),
        (0, "", "", Refused),
    ]
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    kind: String,
    message: String,
    reason: String,
    details: Details,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Vec<Field>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Field {
    reason: String,
    field: String,
    message: String,
}

/// The error for an answer that is not a success.
pub fn error(code: u16, body: &[u8]) -> KubectlError {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) if status.kind == "Status" => of_status(code, status),
        _ => without_status(code, String::from_utf8_lossy(body).trim()),
    }
}

fn of_status(code: u16, status: Status) -> KubectlError {
    if code == 401 {
        let text = format!(
            "it does not accept the kubeconfig's credentials ({})",
            one_line(&status.message)
        );
        return KubectlError::Unreachable(text);
    }
    let causes: Vec<Cause> = status.details.causes.into_iter().map(cause).collect();
    if code == 409 && causes.iter().any(|cause| cause.reason == FIELD_CONFLICT) {
        let text = conflict(&causes);
        return KubectlError::Object(ObjectError {
            fault: ObjectFault::Conflict,
            text,
            causes,
        });
    }
    if let Some(text) = forbidden::explained(&status.message).filter(|_| code == 403) {
        return KubectlError::Object(ObjectError {
            fault: ObjectFault::Forbidden,
            text: one_line(&text),
            causes,
        });
    }
    let text = match status.message.is_empty() {
        true => format!("the API server answered {code} {}", status.reason),
        false => one_line(&status.message),
    };
    KubectlError::Object(ObjectError {
        fault: of_fields(&status.reason, &causes)
            .unwrap_or_else(|| fault(code, &status.reason, &status.message)),
        text,
        causes,
    })
}

/// The meaning of faults in fields. Only codes and fields are used: messages may have any text.
fn of_fields(reason: &str, causes: &[Cause]) -> Option<ObjectFault> {
    let is_of_change =
        |cause: &Cause| !cause.field.is_empty() && OF_CHANGES.contains(&cause.reason.as_str());
    if reason != INVALID || causes.is_empty() || !causes.iter().all(is_of_change) {
        return None;
    }
    let is_uid = causes.iter().any(|cause| cause.field == UID_FIELD);
    Some(if is_uid {
        ObjectFault::Changed
    } else {
        ObjectFault::Invalid
    })
}

fn fault(code: u16, reason: &str, message: &str) -> ObjectFault {
    let fits = |row: &&(u16, &str, &str, ObjectFault)| {
        (row.0 == code || row.0 == 0)
            && (row.1.is_empty() || row.1 == reason)
            && message.contains(row.2)
    };
    TABLE
        .iter()
        .find(fits)
        .map_or(ObjectFault::Refused, |row| row.3)
}

/// Plain text comes from the API server's router for paths that are not served, or from kubectl if the API server is
/// unreachable.
fn without_status(code: u16, text: &str) -> KubectlError {
    let text = one_line(text);
    match code {
        404 => KubectlError::Object(ObjectError {
            fault: ObjectFault::Unserved,
            text: "the API server could not find the requested resource".to_owned(),
            causes: Vec::new(),
        }),
        500.. => KubectlError::Unreachable(text),
        _ => KubectlError::Object(ObjectError {
            fault: ObjectFault::Refused,
            text: format!("the API server answered {code}: {text}"),
            causes: Vec::new(),
        }),
    }
}

fn cause(field: Field) -> Cause {
    Cause {
        reason: field.reason,
        field: field.field,
        message: one_line(&field.message),
    }
}

/// `"other": .data.a, .data.b; "third": .data.c`, by manager.
fn conflict(causes: &[Cause]) -> String {
    let mut managers: Vec<(&str, Vec<&str>)> = Vec::new();
    for cause in causes.iter().filter(|cause| cause.reason == FIELD_CONFLICT) {
        let manager = cause
            .message
            .strip_prefix("conflict with ")
            .unwrap_or(&cause.message);
        match managers.iter_mut().find(|(known, _)| *known == manager) {
            Some((_, fields)) => fields.push(&cause.field),
            None => managers.push((manager, vec![&cause.field])),
        }
    }
    let reported = managers
        .iter()
        .map(|(manager, fields)| format!("{manager}: {}", fields.join(", ")));
    format!(
        "other field managers own fields that it sets: {}; leave these fields to them, or have them give the fields up",
        reported.collect::<Vec<_>>().join("; ")
    )
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
