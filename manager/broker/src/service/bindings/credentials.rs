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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Why the outputs are no answer. Empty if they are.
    fn refused(outputs: Value) -> String {
        let outputs = outputs.as_object().cloned().unwrap();
        let requires = ["volume_mount".to_owned()];
        answer(outputs, &requires).err().unwrap_or_default()
    }

    #[test]
    fn t112_the_parts_of_an_answer_have_the_forms_of_the_protocol() {
        let mount = json!({"driver": "nfs", "container_dir": "/a", "mode": "rw", "device_type": "shared", "device": {"volume_id": "v"}});
        let times = |renew: &str| json!({"metadata": {"expires_at": "2026-01-31T12:00:00.0Z", "renew_before": renew}});
        let port = |endpoint: Value| json!({"endpoints": [endpoint]});
        let cases = [
            (json!({"credentials": {}, "other": 1}), ""),
            (
                json!({"credentials": "a"}),
                "credentials: it must be an object",
            ),
            (
                port(json!({"host": "h", "ports": ["443", "9000-9010"], "protocol": "udp"})),
                "",
            ),
            (port(json!({"ports": ["443"]})), "needs a host"),
            (port(json!({"host": "h", "ports": []})), "needs ports"),
            (port(json!({"host": "h", "ports": [443]})), "needs ports"),
            (
                port(json!({"host": "h", "ports": ["1"], "protocol": "sctp"})),
                "tcp, udp or all",
            ),
            (json!({"endpoints": {}}), "must be a list"),
            (times("2026-01-30T12:00:00.0Z"), ""),
            (
                times("2026-02-01T12:00:00.0Z"),
                "renew_before is after expires_at",
            ),
            (times("tomorrow"), "a time is written like"),
            (json!({"volume_mounts": [mount]}), ""),
            (
                json!({"volume_mounts": [{"driver": "nfs"}]}),
                "container_dir",
            ),
            (
                json!({"route_service_url": "https://a"}),
                "requires: [route_forwarding]",
            ),
        ];
        for (outputs, reason) in cases {
            let refused = refused(outputs.clone());
            let fits = match reason {
                "" => refused.is_empty(),
                reason => refused.contains(reason),
            };
            assert!(fits, "{outputs}: {refused:?}");
        }
    }
}
