//! What kubectl prints, read: tables, lists and, above all, which error belongs to which object.
//!
//! kubectl visits objects in the order given and says one error for each that failed, often without its name
//! (`Apply failed with 1 conflict…`). So errors are tied to objects by order, and by name where the counts differ.

use std::collections::HashMap;

use common::model::ObjectRef;
use serde_json::Value;

use super::error::{ObjectError, ObjectFault};
use crate::plan::ServedKind;

/// How a message begins; any other line continues the one before it.
const BEGINNINGS: &[&str] = &[
    "Error from server",
    "error: ",
    "Apply failed with",
    "unable to recognize",
    "Unable to connect",
    "The connection to the server",
    "error when",
    "Get \"http",
    "Patch \"http",
    "Post \"http",
    "Delete \"http",
    "Put \"http",
];

/// Texts that mean that the API server cannot be reached, or does not know us.
const UNREACHABLE: &[&str] = &[
    "The connection to the server",
    "Unable to connect to the server",
    "dial tcp",
    "connection refused",
    "connection reset by peer",
    "no such host",
    "context was not found",
    "Error in configuration",
    "invalid configuration",
    "TLS handshake timeout",
    "x509:",
    "tls:",
    "http2: client connection",
    "unexpected EOF",
    ": EOF",
    "i/o timeout",
    "Client.Timeout exceeded",
    "You must be logged in to the server",
    "(Unauthorized)",
    "getting credentials:",
    "error loading config file",
];
/// Texts that mean that the API server is there, but cannot yet.
const NOT_YET: &[&str] = &[
    "(ServiceUnavailable)",
    "(TooManyRequests)",
    "currently unable to handle the request",
    "etcdserver: ",
    "no matches for kind",
    "could not find the requested resource",
    "request timed out",
    "(Timeout)",
    "the server was unable to return a response in the time allotted",
    "apiserver not ready",
    "is not yet ready to handle request",
    "the object has been modified",
    "stale GroupVersion",
];
/// Where kubectl's advice on conflicts begins; it names flags that our callers do not have.
const CONFLICT_ADVICE: &str = "\nPlease review the fields above";

pub fn is_unreachable(text: &str) -> bool {
    UNREACHABLE.iter().any(|sign| text.contains(sign))
}

/// The messages of kubectl's stderr, without log lines and warnings.
pub fn messages(stderr: &str) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for line in stderr
        .lines()
        .filter(|line| !is_log(line) && !line.is_empty())
    {
        match messages.last_mut() {
            Some(last) if !begins(line) => {
                last.push('\n');
                last.push_str(line);
            }
            _ => messages.push(line.to_owned()),
        }
    }
    messages
}

fn begins(line: &str) -> bool {
    BEGINNINGS
        .iter()
        .any(|beginning| line.starts_with(beginning))
        || (line.starts_with("The ") && line.contains("is invalid"))
}

/// `E1121 05:40:30.450062   28494 memcache.go:265] …`, and warnings.
fn is_log(line: &str) -> bool {
    let mut bytes = line.bytes();
    let logged = bytes.next().is_some_and(|b| b"EWIF".contains(&b))
        && bytes.by_ref().take(4).filter(u8::is_ascii_digit).count() == 4;
    logged || line.starts_with("Warning: ") || line.starts_with("WARNING: ")
}

/// One sentence for one message: without kubectl's prefixes and advice.
fn tidy(message: &str) -> String {
    let message = message.split(CONFLICT_ADVICE).next().unwrap_or(message);
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let message = match message.strip_prefix("Error from server") {
        Some(rest) => rest.split_once(": ").map_or(rest, |(_, sentence)| sentence),
        None => message,
    };
    let message = match message
        .strip_prefix("error when ")
        .and_then(|rest| rest.split_once("\": "))
    {
        Some((_, sentence)) => sentence,
        None => message,
    };
    message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The error that a message means.
pub fn object_error(message: &str) -> ObjectError {
    if message.contains("Apply failed with") {
        return ObjectError {
            fault: ObjectFault::Conflict,
            text: conflict(&tidy(message)),
            causes: Vec::new(),
        };
    }
    let is_transient = is_unreachable(message) || NOT_YET.iter().any(|sign| message.contains(sign));
    let fault = if is_transient {
        ObjectFault::Transient
    } else {
        ObjectFault::Refused
    };
    ObjectError {
        fault,
        text: tidy(message),
        causes: Vec::new(),
    }
}

/// `Apply failed with 2 conflicts: conflicts with "other": - .data.a - .data.x`
fn conflict(text: &str) -> String {
    let details = text.split_once(": ").map_or(text, |(_, details)| details);
    let details = details
        .replace("conflicts with ", "")
        .replace("conflict with ", "")
        .replace(": - ", ": ")
        .replace(" - ", ", ");
    format!(
        "other field managers own fields that it sets: {details}; leave these fields to them, or have them give the fields up"
    )
}

/// The error of each object that did not succeed, by its index among all objects.
pub fn assign(
    objects: &[ObjectRef],
    failed: &[usize],
    stderr: &str,
) -> HashMap<usize, ObjectError> {
    let (unserved, messages): (Vec<_>, Vec<_>) = messages(stderr)
        .into_iter()
        .partition(|message| unserved_kind(message).is_some());
    let mut assigned = HashMap::new();
    let mut rest = Vec::new();
    for &index in failed {
        let object = &objects[index];
        let of_kind =
            |message: &&String| unserved_kind(message) == Some((&object.kind, &object.api_version));
        match unserved.iter().find(of_kind) {
            Some(message) => drop(assigned.insert(index, object_error(message))),
            None => rest.push(index),
        }
    }
    for (position, &index) in rest.iter().enumerate() {
        let message = if messages.len() == rest.len() {
            Some(&messages[position])
        } else {
            messages
                .iter()
                .find(|message| names(message, &objects[index]))
        };
        let error = message.map_or_else(
            || unassigned(&messages, &unserved),
            |message| object_error(message),
        );
        assigned.insert(index, error);
    }
    assigned
}

/// `no matches for kind "Nope" in version "v1"`: said for all such objects before anything else is tried.
fn unserved_kind(message: &str) -> Option<(&str, &str)> {
    let (_, rest) = message.split_once("no matches for kind \"")?;
    let (kind, rest) = rest.split_once("\" in version \"")?;
    Some((kind, rest.split('"').next()?))
}

/// Whether the message names the object, in one of the ways of the API server.
pub fn names(message: &str, object: &ObjectRef) -> bool {
    let name = &object.name;
    message.contains(&format!("\"{name}\""))
        || message.contains(&format!("/{name};"))
        || message.contains(&format!("({name};"))
}

fn unassigned(messages: &[String], unserved: &[String]) -> ObjectError {
    let all = messages
        .iter()
        .chain(unserved)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    if all.is_empty() {
        silence()
    } else {
        object_error(&all)
    }
}

/// The error of an object that nothing is said of.
pub fn silence() -> ObjectError {
    let text = "kubectl says neither that it succeeded nor why not".to_owned();
    ObjectError {
        fault: ObjectFault::Refused,
        text,
        causes: Vec::new(),
    }
}

/// The error of a call with one object.
pub fn only_error(stderr: &str) -> ObjectError {
    unassigned(&messages(stderr), &[])
}

/// The errors that name their object, by its index.
pub fn named_errors(objects: &[ObjectRef], stderr: &str) -> HashMap<usize, ObjectError> {
    let messages = messages(stderr);
    let named = |(index, object)| {
        Some((
            index,
            object_error(messages.iter().find(|message| names(message, object))?),
        ))
    };
    objects.iter().enumerate().filter_map(named).collect()
}

/// Which objects `-o name` tells of, as `deployment.apps/web`: in their order, for namespaces are not told.
pub fn done(objects: &[ObjectRef], stdout: &str) -> Vec<bool> {
    let mut lines = stdout.lines().peekable();
    objects
        .iter()
        .map(|object| {
            lines
                .next_if(|line| **line == printed_name(object))
                .is_some()
        })
        .collect()
}

fn printed_name(object: &ObjectRef) -> String {
    let dot = if object.group().is_empty() { "" } else { "." };
    format!(
        "{}{dot}{}/{}",
        object.kind.to_lowercase(),
        object.group(),
        object.name
    )
}

/// The objects that kubectl printed: nothing, one, or a list.
pub fn objects(stdout: &[u8]) -> Result<Vec<Value>, String> {
    if stdout.iter().all(u8::is_ascii_whitespace) {
        return Ok(Vec::new());
    }
    match serde_json::from_slice(stdout).map_err(|error| error.to_string())? {
        Value::Object(mut map) if map.get("kind").is_some_and(|kind| kind == "List") => {
            match map.remove("items") {
                Some(Value::Array(items)) => Ok(items),
                _ => Err("the list has no items".to_owned()),
            }
        }
        one => Ok(vec![one]),
    }
}

/// The rows of `kubectl api-resources -o wide --no-headers`.
///
/// `SHORTNAMES` and `CATEGORIES` may be empty, so the columns are found from the one that is `true` or `false`.
pub fn kinds(stdout: &str) -> Vec<ServedKind> {
    stdout.lines().filter_map(kind_of_row).collect()
}

fn kind_of_row(row: &str) -> Option<ServedKind> {
    let cells: Vec<&str> = row.split_whitespace().collect();
    let scope = cells
        .iter()
        .skip(2)
        .position(|cell| matches!(*cell, "true" | "false"))?
        + 2;
    let verbs = cells.get(scope + 2).map_or("", |cell| cell);
    Some(ServedKind {
        api_version: (*cells.get(scope - 1)?).to_owned(),
        kind: (*cells.get(scope + 1)?).to_owned(),
        resource: (*cells.first()?).to_owned(),
        namespaced: cells[scope] == "true",
        applicable: verbs
            .trim_matches(['[', ']'])
            .split([',', ' '])
            .any(|verb| verb == "patch"),
    })
}

/// The kinds of an `APIResourceList`, subresources left out.
pub fn kinds_of_list(list: &Value, api_version: &str) -> Vec<ServedKind> {
    let resources = list["resources"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    resources
        .iter()
        .filter_map(|resource| kind_of_entry(resource, api_version))
        .collect()
}

fn kind_of_entry(entry: &Value, api_version: &str) -> Option<ServedKind> {
    let resource = entry["name"]
        .as_str()
        .filter(|name| !name.contains('/'))?
        .to_owned();
    let verbs = entry["verbs"].as_array()?;
    Some(ServedKind {
        api_version: api_version.to_owned(),
        kind: entry["kind"].as_str()?.to_owned(),
        resource,
        namespaced: entry["namespaced"].as_bool()?,
        applicable: verbs.iter().any(|verb| verb == "patch"),
    })
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
