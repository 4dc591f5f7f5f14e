//! The cluster's notes about an object: core/v1 events, the newest last.

use common::model::ObjectRef;
use reqwest::Method;
use serde_json::Value;

use crate::kubectl::ObjectEvent;
use crate::kubectl::error::KubectlError;
use crate::kubectl::proxy::request::Request;

/// The cluster keeps events of an object for an hour. This many are enough.
const READ: usize = 500;
const REPORTED: usize = 20;
/// The namespace of events about cluster-scoped objects.
const OF_CLUSTER: &str = "default";

pub fn request(object: &ObjectRef, uid: Option<&str>) -> Result<Request, KubectlError> {
    let namespace = object.namespace.as_deref().unwrap_or(OF_CLUSTER);
    let segments = ["api", "v1", "namespaces", namespace, "events"];
    let mut selector = format!(
        "involvedObject.kind={},involvedObject.name={}",
        object.kind, object.name
    );
    if let Some(uid) = uid {
        selector.push_str(&format!(",involvedObject.uid={uid}"));
    }
    Ok(Request::new("events", Method::GET, &segments)?
        .query("fieldSelector", &selector)
        .query("limit", &READ.to_string()))
}

pub fn latest(list: Value) -> Vec<ObjectEvent> {
    let items = list["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut events: Vec<ObjectEvent> = items.iter().map(ObjectEvent::from).collect();
    events.sort_by(|a, b| a.at.cmp(&b.at));
    events.split_off(events.len().saturating_sub(REPORTED))
}

impl From<&Value> for ObjectEvent {
    /// Reads an event of core/v1.
    fn from(item: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let times = [
            &item["series"]["lastObservedTime"],
            &item["lastTimestamp"],
            &item["eventTime"],
            &item["metadata"]["creationTimestamp"],
        ];
        let count = item["series"]["count"]
            .as_u64()
            .or_else(|| item["count"].as_u64());
        ObjectEvent {
            warning: item["type"] == "Warning",
            reason: text(&item["reason"]),
            message: text(&item["message"]),
            count: count.unwrap_or(1),
            at: times
                .into_iter()
                .find_map(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_come_last_whichever_time_they_have() {
        let list = json!({"items": [
            {"type": "Warning", "reason": "C", "message": "m", "count": 3, "lastTimestamp": "2026-01-01T00:00:03Z"},
            {"type": "Normal", "reason": "A", "eventTime": "2026-01-01T00:00:01Z", "lastTimestamp": null},
            {"reason": "B", "series": {"count": 7, "lastObservedTime": "2026-01-01T00:00:02Z"}, "eventTime": "2025-01-01T00:00:00Z"},
        ]});
        let events = latest(list);
        let shown: Vec<_> = events
            .iter()
            .map(|event| (event.reason.as_str(), event.count, event.warning))
            .collect();
        assert_eq!(shown, [("A", 1, false), ("B", 7, false), ("C", 3, true)]);
    }
}
