//! The cluster's events about a deployment's objects, and about what the cluster made of them.

use common::api::activity::{ClusterEvent, ClusterEvents, EVENTS_MAX, EventKind};
use common::model::{AppliedObject, ObjectRef};
use serde_json::Value;

use super::READ;
use super::family::{Family, Member};
use crate::kubectl::{
    ClusterApi, KubectlError, ObjectEvent, ObjectFault, Page, PageRequest, Query, ServedKind,
};

/// The events of one page of a list.
const PAGE: usize = 500;
/// The events of a namespace that are looked at. The cluster keeps them for an hour.
const LOOKED_AT: usize = 20_000;

/// The newest events, the newest last.
///
/// # Errors
/// The cluster does not answer, or the caller may not read events.
pub async fn events(
    kubectl: &dyn ClusterApi,
    objects: &[AppliedObject],
    limit: usize,
) -> Result<ClusterEvents, KubectlError> {
    let family = Family::find(kubectl, objects).await?;
    let mut found = ClusterEvents {
        items: Vec::new(),
        notices: family.notices.clone(),
    };
    for namespace in family.namespaces() {
        match of_namespace(kubectl, &family, &namespace, &mut found).await {
            Err(error) if error.is_transient() => return Err(error),
            Err(error) if error.fault() == Some(ObjectFault::Forbidden) => return Err(error),
            Err(error) => {
                let text = format!("the events of namespace {namespace} are missing: {error}");
                found.notices.push(text);
            }
            Ok(()) => {}
        }
    }
    let items = &mut found.items;
    items.sort_by(|a, b| time(a).cmp(&time(b)));
    items.drain(..items.len().saturating_sub(limit.clamp(1, EVENTS_MAX)));
    Ok(found)
}

/// RFC 3339 in UTC, with a fraction of the second or without: text that sorts.
fn time(event: &ClusterEvent) -> Option<&str> {
    Some(event.last_time.as_deref()?.trim_end_matches('Z'))
}

async fn of_namespace(
    kubectl: &dyn ClusterApi,
    family: &Family,
    namespace: &str,
    found: &mut ClusterEvents,
) -> Result<(), KubectlError> {
    let kind = kind();
    let (mut next, mut seen): (Option<String>, usize) = (None, 0);
    loop {
        let page = page(kubectl, &kind, namespace, next.as_deref()).await?;
        seen += page.items.len();
        let events = page.items.iter();
        let events = events.filter_map(|item| event(item, family));
        found.items.extend(events);
        next = page.next;
        if next.is_none() {
            return Ok(());
        }
        if seen >= LOOKED_AT {
            let text = format!(
                "namespace {namespace} has more than {LOOKED_AT} events, and only so many were looked at"
            );
            found.notices.push(text);
            return Ok(());
        }
    }
}

async fn page(
    kubectl: &dyn ClusterApi,
    kind: &ServedKind,
    namespace: &str,
    after: Option<&str>,
) -> Result<Page, KubectlError> {
    let query = Query {
        kind,
        namespace: Some(namespace),
        selector: None,
        metadata_only: false,
    };
    let request = PageRequest { limit: PAGE, after };
    kubectl.list(query, request, READ).await
}

fn kind() -> ServedKind {
    ServedKind {
        api_version: "v1".to_owned(),
        kind: "Event".to_owned(),
        resource: "events".to_owned(),
        namespaced: true,
        applicable: true,
    }
}

/// The event, if it is about a member.
fn event(item: &Value, family: &Family) -> Option<ClusterEvent> {
    let Member { resource, object } = member(&item["involvedObject"], family)?;
    let event = ObjectEvent::from(item);
    Some(ClusterEvent {
        resource: resource.clone(),
        object: object.clone(),
        kind: match event.warning {
            true => EventKind::Warning,
            false => EventKind::Normal,
        },
        reason: event.reason,
        message: event.message,
        count: event.count,
        last_time: (!event.at.is_empty()).then_some(event.at),
    })
}

/// By UID. Some components leave it out: then by name.
fn member<'f>(involved: &Value, family: &'f Family) -> Option<&'f Member> {
    let text = |key: &str| involved[key].as_str().filter(|text| !text.is_empty());
    if let Some(uid) = text("uid") {
        return family.members.get(uid);
    }
    let is_it = |object: &ObjectRef| {
        Some(object.kind.as_str()) == text("kind")
            && Some(object.name.as_str()) == text("name")
            && object.namespace.as_deref() == text("namespace")
    };
    family.members.values().find(|member| is_it(&member.object))
}

#[cfg(test)]
mod tests {
    use common::model::ResourceName;
    use serde_json::json;

    use super::*;

    fn family() -> Family {
        let object = ObjectRef {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            namespace: Some("shop".to_owned()),
            name: "web-1".to_owned(),
        };
        let resource = ResourceName::parse("web").unwrap();
        let member = Member { resource, object };
        Family {
            members: [("u1".to_owned(), member)].into(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn events_are_about_an_object_by_its_uid_and_by_its_name_only_without_one() {
        let involved = |value: Value| {
            event(
                &json!({"involvedObject": value, "type": "Warning"}),
                &family(),
            )
        };
        let by_name = json!({"kind": "Pod", "namespace": "shop", "name": "web-1"});
        assert!(involved(by_name.clone()).is_some());
        assert!(involved(json!({"uid": "u1"})).is_some());
        let mut earlier = by_name.clone();
        earlier["uid"] = json!("u0");
        assert!(involved(earlier).is_none());
        let mut elsewhere = by_name;
        elsewhere["namespace"] = json!("other");
        assert!(involved(elsewhere).is_none());
    }

    #[test]
    fn fractions_of_a_second_sort_behind_the_second() {
        let at = |time: &str| {
            let item = json!({"involvedObject": {"uid": "u1"}, "lastTimestamp": time});
            event(&item, &family()).unwrap()
        };
        let (whole, later) = (at("2026-01-01T00:00:03Z"), at("2026-01-01T00:00:03.5Z"));
        assert!(time(&whole) < time(&later));
    }
}
