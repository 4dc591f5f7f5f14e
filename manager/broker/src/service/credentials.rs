//! The outputs of a binding's type as the answer of a bind.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// The outputs that are part of the answer, each with the permission that it needs from the platform.
const PARTS: [(&str, Option<&str>); 6] = [
    ("credentials", None),
    ("endpoints", None),
    ("metadata", None),
    ("syslog_drain_url", Some("syslog_drain")),
    ("route_service_url", Some("route_forwarding")),
    ("volume_mounts", Some("volume_mount")),
];

/// The parts of the answer among the outputs. Other outputs are ignored.
pub fn answer(
    mut outputs: Map<String, Value>,
    requires: &[String],
) -> Result<Map<String, Value>, String> {
    let mut answer = Map::new();
    for (name, permission) in PARTS {
        let Some(value) = outputs.remove(name).filter(|value| !value.is_null()) else {
            continue;
        };
        if let Some(permission) = permission.filter(|one| !requires.iter().any(|has| has == one)) {
            return Err(format!(
                "output {name} needs requires: [{permission}] of the service"
            ));
        }
        check(name, &value).map_err(|reason| format!("output {name}: {reason}"))?;
        answer.insert(name.to_owned(), value);
    }
    Ok(answer)
}

fn check(name: &str, value: &Value) -> Result<(), &'static str> {
    match name {
        "credentials" => hold(value.is_object(), "it must be an object"),
        "metadata" => metadata(value),
        "endpoints" => each(value, endpoint),
        "volume_mounts" => each(value, mount),
        _ => hold(value.is_string(), "it must be a text"),
    }
}

fn hold(holds: bool, otherwise: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(otherwise) }
}

fn each(
    value: &Value,
    check: impl Fn(&Value) -> Result<(), &'static str>,
) -> Result<(), &'static str> {
    let items = value.as_array().ok_or("it must be a list")?;
    items.iter().try_for_each(check)
}

fn endpoint(value: &Value) -> Result<(), &'static str> {
    hold(has_text(value, "host"), "an endpoint needs a host")?;
    let ports = value["ports"].as_array();
    let ports = ports.is_some_and(|ports| !ports.is_empty() && ports.iter().all(Value::is_string));
    hold(
        ports,
        "an endpoint needs ports, a list of texts such as \"443\"",
    )?;
    let protocols = [Value::Null, "tcp".into(), "udp".into(), "all".into()];
    hold(
        protocols.contains(&value["protocol"]),
        "a protocol is tcp, udp or all",
    )
}

fn mount(value: &Value) -> Result<(), &'static str> {
    let texts = ["driver", "container_dir"];
    let texts = texts.iter().all(|key| has_text(value, key));
    hold(texts, "a volume mount needs driver and container_dir")?;
    hold(
        value["mode"] == "r" || value["mode"] == "rw",
        "a mode is r or rw",
    )?;
    hold(value["device_type"] == "shared", "a device_type is shared")?;
    hold(
        has_text(&value["device"], "volume_id"),
        "a device needs a volume_id",
    )
}

fn has_text(value: &Value, key: &str) -> bool {
    value[key].as_str().is_some_and(|text| !text.is_empty())
}

fn metadata(value: &Value) -> Result<(), &'static str> {
    hold(value.is_object(), "it must be an object")?;
    let time = |key: &str| match &value[key] {
        Value::Null => Ok(None),
        Value::String(text) => text
            .parse::<Timestamp>()
            .map(Some)
            .map_err(|_| "a time is written like 2026-01-31T12:00:00.0Z"),
        _ => Err("a time is a text"),
    };
    let (expires, renew) = (time("expires_at")?, time("renew_before")?);
    let in_order = expires
        .zip(renew)
        .is_none_or(|(expires, renew)| renew <= expires);
    hold(in_order, "renew_before is after expires_at")
}
