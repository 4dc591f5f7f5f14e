//! Whose an object is, and what a deployment may do with it.
//!
//! | label of the object | who owns the label | UID | the object is |
//! |---|---|---|---|
//! | another deployment | anybody | any | another deployment's |
//! | this deployment, or none | anybody | on record | ours |
//! | this deployment | our field manager, by an apply | not on record | ours: the record is older than the object |
//! | this deployment | somebody else | not on record | nobody's: the label is a copy |
//! | none | – | not on record | nobody's |
//!
//! An object that deployments share is ours if this deployment is one of them, and another deployment's otherwise.
//!
//! Pure. The decision holds for one version of the object, so each write names that version as its precondition. A write that
//! comes second reads the object again and decides again.

use common::model::{CreatePolicy, DeploymentName};
use serde_json::Value;

use super::change;
use crate::apply::definitions::shared;
use crate::kubectl::Precondition;
use crate::plan;

/// Whose an object is, as one deployment sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Absent,
    Ours,
    Nobodys,
    Others(String),
}

/// What a write does to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Create,
    Update,
    /// The object was there before the deployment.
    Acquire,
}

/// Why an object is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("it belongs to deployment {0}; delete it there, or give it another name here")]
    OfAnother(String),
    #[error(
        "it exists already, and the create policy is CREATE; delete it, or use CREATE_OR_ACQUIRE to take it over"
    )]
    Exists,
    #[error(
        "it does not exist, and the create policy is ACQUIRE; create it, or use CREATE_OR_ACQUIRE"
    )]
    NothingToAcquire,
}

/// Whose the object is. `recorded` is the UID on record.
pub fn standing(
    live: Option<&Value>,
    deployment: &DeploymentName,
    recorded: Option<&str>,
) -> Standing {
    let Some(live) = live else {
        return Standing::Absent;
    };
    let is_recorded = recorded.is_some() && recorded == change::uid(live);
    if let Some(standing) = of_shared(live, deployment) {
        return standing;
    }
    match change::owner(live) {
        Some(owner) if owner != deployment.as_str() => Standing::Others(owner.to_owned()),
        _ if is_recorded => Standing::Ours,
        Some(_) if is_marked_by(live, &plan::field_manager(deployment)) => Standing::Ours,
        _ => Standing::Nobodys,
    }
}

/// Whose an object is that deployments share. One that had an owner before still has it.
fn of_shared(live: &Value, deployment: &DeploymentName) -> Option<Standing> {
    if !shared::is_shared(live) || change::owner(live).is_some() {
        return None;
    }
    let is_ours = shared::is_shared_by(live, deployment);
    let other = || shared::sharers(live).next().map(str::to_owned);
    Some(match (is_ours, other()) {
        (true, _) => Standing::Ours,
        (false, Some(other)) => Standing::Others(other),
        (false, None) => Standing::Nobodys,
    })
}

/// Whether the object is the deployment's; `recorded` is the UID on record.
pub fn is_ours(live: &Value, deployment: &DeploymentName, recorded: &str) -> bool {
    standing(Some(live), deployment, Some(recorded)) == Standing::Ours
}

/// What the deployment may do, by the create policy. `was_replaced`: the object was deleted to be made anew.
pub fn claim(
    standing: Standing,
    policy: CreatePolicy,
    was_replaced: bool,
) -> Result<Claim, Refusal> {
    match standing {
        Standing::Absent if policy == CreatePolicy::Acquire && !was_replaced => {
            Err(Refusal::NothingToAcquire)
        }
        Standing::Absent => Ok(Claim::Create),
        Standing::Ours => Ok(Claim::Update),
        Standing::Others(owner) => Err(Refusal::OfAnother(owner)),
        Standing::Nobodys if policy == CreatePolicy::Create => Err(Refusal::Exists),
        Standing::Nobodys => Ok(Claim::Acquire),
    }
}

/// That the object is still as it was when the claim was decided.
pub fn precondition(live: Option<&Value>) -> Precondition<'_> {
    match live {
        None => Precondition::Absent,
        Some(live) => Precondition::Unchanged {
            uid: change::uid(live).unwrap_or_default(),
            version: live["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default(),
        },
    }
}

/// The version that a deletion is to name. None for an object with a finalizer of the garbage collector: the API server takes
/// that finalizer off first, and then finds its own write in the way of the version (Kubernetes 1.36). Its UID still counts.
pub fn version_to_delete(live: &Value) -> Option<&str> {
    let of_collector = ["orphan", "foregroundDeletion"];
    let is_held = change::finalizers(live)
        .iter()
        .any(|finalizer| of_collector.contains(finalizer));
    live["metadata"]["resourceVersion"]
        .as_str()
        .filter(|_| !is_held)
}

/// Whether the field manager has applied the label of ownership. A copy of an object has the label, but not by this manager.
fn is_marked_by(live: &Value, manager: &str) -> bool {
    let entries = live["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten().any(|entry| {
        let labels = &entry["fieldsV1"]["f:metadata"]["f:labels"];
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && labels.get(format!("f:{}", plan::DEPLOYMENT)).is_some()
    })
}

/// Of the lists of who owns which field, only what [`standing`] reads: the lists are larger than many an object.
pub fn with_mark_alone(mut live: Value, deployment: &DeploymentName) -> Value {
    let manager = plan::field_manager(deployment);
    let is_marked = is_marked_by(&live, &manager);
    if let Some(metadata) = live["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    if is_marked {
        let label = format!("f:{}", plan::DEPLOYMENT);
        let fields = serde_json::json!({"f:metadata": {"f:labels": {label: {}}}});
        live["metadata"]["managedFields"] = serde_json::json!([
            {"manager": manager, "operation": "Apply", "fieldsV1": fields}
        ]);
    }
    live
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LABELS: &[Option<&str>] = &[None, Some("web"), Some("other")];
    const MANAGERS: &[&[(&str, &str)]] = &[
        &[],
        &[("dm-web", "Apply")],
        &[("dm-web", "Update")],
        &[("dm-other", "Apply")],
        &[("kubectl", "Update"), ("dm-web", "Apply")],
    ];
    const RECORDS: &[Option<&str>] = &[None, Some("u"), Some("older")];
    const POLICIES: &[CreatePolicy] = &[
        CreatePolicy::Create,
        CreatePolicy::Acquire,
        CreatePolicy::CreateOrAcquire,
    ];

    fn object(label: Option<&str>, managers: &[(&str, &str)]) -> Value {
        let fields =
            json!({"f:metadata": {"f:labels": {"f:deployment-manager.dev/deployment": {}}}});
        let entry = |(manager, operation): &(&str, &str)| json!({"manager": manager, "operation": operation, "fieldsV1": fields});
        let labels = label.map_or_else(|| json!({}), |label| json!({plan::DEPLOYMENT: label}));
        let managed: Vec<Value> = managers.iter().map(entry).collect();
        json!({"metadata": {"uid": "u", "resourceVersion": "7", "labels": labels, "managedFields": managed}})
    }

    /// Every combination of label, field managers and record.
    fn every_object() -> Vec<(Option<&'static str>, bool, Option<&'static str>, Value)> {
        let mut all = Vec::new();
        for &label in LABELS {
            for managers in MANAGERS {
                for &record in RECORDS {
                    let is_made = managers.contains(&("dm-web", "Apply"));
                    all.push((label, is_made, record, object(label, managers)));
                }
            }
        }
        all
    }

    #[test]
    fn ours_is_what_is_on_record_or_what_our_manager_has_marked_and_nothing_of_others() {
        let web = DeploymentName::parse("web").unwrap();
        for (label, is_made, record, live) in every_object() {
            let expected = match label {
                Some("other") => Standing::Others("other".to_owned()),
                _ if record == Some("u") => Standing::Ours,
                Some("web") if is_made => Standing::Ours,
                _ => Standing::Nobodys,
            };
            let found = standing(Some(&live), &web, record);
            assert_eq!(found, expected, "{label:?} {is_made} {record:?}");
            let slim = with_mark_alone(live, &web);
            assert_eq!(
                standing(Some(&slim), &web, record),
                expected,
                "slim: {slim}"
            );
        }
        assert_eq!(standing(None, &web, Some("u")), Standing::Absent);
    }

    #[test]
    fn no_policy_reaches_an_object_of_others_and_create_reaches_none_of_nobodys() {
        let standings = [
            Standing::Absent,
            Standing::Ours,
            Standing::Nobodys,
            Standing::Others("other".to_owned()),
        ];
        for standing in standings {
            for &policy in POLICIES {
                for replaced in [false, true] {
                    let expected = match (&standing, policy) {
                        (Standing::Others(_), _) => Err(Refusal::OfAnother("other".to_owned())),
                        (Standing::Ours, _) => Ok(Claim::Update),
                        (Standing::Nobodys, CreatePolicy::Create) => Err(Refusal::Exists),
                        (Standing::Nobodys, _) => Ok(Claim::Acquire),
                        (Standing::Absent, CreatePolicy::Acquire) if !replaced => {
                            Err(Refusal::NothingToAcquire)
                        }
                        (Standing::Absent, _) => Ok(Claim::Create),
                    };
                    let found = claim(standing.clone(), policy, replaced);
                    assert_eq!(found, expected, "{standing:?} {policy:?} {replaced}");
                }
            }
        }
    }

    #[test]
    fn what_is_claimed_is_written_only_as_it_was_read() {
        let live = object(None, &[]);
        let expected = Precondition::Unchanged {
            uid: "u",
            version: "7",
        };
        assert_eq!(precondition(Some(&live)), expected);
        assert_eq!(precondition(None), Precondition::Absent);
    }
}
