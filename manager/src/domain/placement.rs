//! Which cluster an instance of an Inter-operator plan goes to, by labels and free capacity.

use std::collections::BTreeMap;

use common::model::cluster::quantity;
use common::model::{Cluster, ClusterName};
use manager_broker::{BINDING_LABEL, INSTANCE_LABEL, PLAN_LABEL};
use serde_json::{Map, Value};

use super::selector::{Selector, SelectorError};

/// What an instance needs, or what the instances of a cluster need together, in thousandths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResourceRequests {
    pub cpu: u128,
    pub memory: u128,
}

/// A cluster, and what is on it.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub cluster: Cluster,
    pub instances: usize,
    /// What its instances need.
    pub used: ResourceRequests,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    #[error("Parsing failed for labelSelector: {selector}: {source}")]
    Selector {
        selector: String,
        source: SelectorError,
    },
    #[error("No clusters found with matching criteria: {0}")]
    NoneMatches(String),
    #[error("No clusters found with required resources. cpu : {cpu}, memory {memory}.")]
    NoneHasRoom { cpu: String, memory: String },
    #[error("context.requests of the plan: {0}")]
    Requests(String),
}

impl ResourceRequests {
    /// From `context.requests` of a plan.
    pub fn of(requests: &Map<String, Value>) -> Result<Self, PlacementError> {
        let need = |key: &str| {
            let text = written(requests, key);
            quantity(&text).map_err(|error| PlacementError::Requests(format!("{key}: {error}")))
        };
        Ok(Self {
            cpu: need("cpu")?,
            memory: need("memory")?,
        })
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            memory: self.memory.saturating_add(other.memory),
        }
    }
}

/// A need as it is written. Nothing is needed that is not.
fn written(requests: &Map<String, Value>, key: &str) -> String {
    match requests.get(key) {
        None | Some(Value::Null) => "0".to_owned(),
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(other) => other.to_string(),
    }
}

/// Without requests, the cluster with the fewest instances. With requests, of the clusters with room for them, the one with
/// the most free memory, then with the most free processors. Of equal ones, the first by name.
pub fn choose(
    candidates: &[Candidate],
    selector: &str,
    requests: Option<&Map<String, Value>>,
) -> Result<ClusterName, PlacementError> {
    let parsed = Selector::parse(selector).map_err(|source| PlacementError::Selector {
        selector: selector.to_owned(),
        source,
    })?;
    let matching = candidates.iter();
    let matching = matching.filter(|one| parsed.matches(&one.cluster.labels));
    let mut matching: Vec<&Candidate> = matching.collect();
    matching.sort_by(|one, other| one.cluster.name.cmp(&other.cluster.name));
    if matching.is_empty() {
        return Err(PlacementError::NoneMatches(selector.to_owned()));
    }
    let chosen = match requests {
        None => matching.into_iter().min_by_key(|one| one.instances),
        Some(requests) => roomiest(matching, requests)?,
    };
    let chosen = chosen.ok_or_else(|| PlacementError::NoneMatches(selector.to_owned()))?;
    Ok(chosen.cluster.name.clone())
}

fn roomiest<'c>(
    candidates: Vec<&'c Candidate>,
    requests: &Map<String, Value>,
) -> Result<Option<&'c Candidate>, PlacementError> {
    let needs = ResourceRequests::of(requests)?;
    let free = |candidate: &'c Candidate| {
        let free = candidate.free();
        (free.memory >= needs.memory && free.cpu >= needs.cpu).then_some((free, candidate))
    };
    let mut fitting: Vec<_> = candidates.into_iter().filter_map(free).collect();
    fitting.sort_by_key(|(free, _)| std::cmp::Reverse((free.memory, free.cpu)));
    match fitting.first() {
        Some((_, chosen)) => Ok(Some(chosen)),
        None => Err(PlacementError::NoneHasRoom {
            cpu: written(requests, "cpu"),
            memory: written(requests, "memory"),
        }),
    }
}

impl Candidate {
    /// A capacity that is not known has room for everything.
    fn free(&self) -> ResourceRequests {
        let capacity = self.cluster.capacity.clone().unwrap_or_default();
        let whole = |text: Option<String>| {
            text.and_then(|text| quantity(&text).ok())
                .unwrap_or(u128::MAX)
        };
        ResourceRequests {
            cpu: whole(capacity.cpu).saturating_sub(self.used.cpu),
            memory: whole(capacity.memory).saturating_sub(self.used.memory),
        }
    }
}

/// What is on each cluster. `deployments` are the clusters and the labels of all deployments, `needs` those of an instance
/// by the id of its plan.
pub fn candidates<'d>(
    clusters: Vec<Cluster>,
    deployments: impl IntoIterator<Item = (&'d ClusterName, &'d BTreeMap<String, String>)>,
    needs: &BTreeMap<String, ResourceRequests>,
) -> Vec<Candidate> {
    let new = |cluster: Cluster| Candidate {
        cluster,
        instances: 0,
        used: ResourceRequests::default(),
    };
    let mut all: Vec<_> = clusters.into_iter().map(new).collect();
    for (cluster, labels) in deployments {
        let is_instance =
            labels.contains_key(INSTANCE_LABEL) && !labels.contains_key(BINDING_LABEL);
        let on_it = all.iter_mut().find(|one| one.cluster.name == *cluster);
        if let (true, Some(candidate)) = (is_instance, on_it) {
            let plan = labels.get(PLAN_LABEL).and_then(|plan| needs.get(plan));
            candidate.instances += 1;
            candidate.used = candidate.used.plus(plan.copied().unwrap_or_default());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn candidate(name: &str, tier: &str, instances: usize, free: (&str, &str)) -> Candidate {
        let cluster = json!({
            "name": name, "url": "http://x", "labels": {"tier": tier},
            "capacity": {"cpu": free.0, "memory": free.1},
        });
        Candidate {
            cluster: serde_json::from_value(cluster).unwrap(),
            instances,
            used: ResourceRequests {
                cpu: 1_000,
                memory: 1_000 << 30,
            },
        }
    }

    #[test]
    fn the_table_of_choices() {
        let all = [
            candidate("a", "dev", 3, ("2", "3Gi")),
            candidate("b", "dev", 1, ("4", "9Gi")),
            candidate("c", "test", 1, ("9", "5Gi")),
            candidate("d", "prod", 0, ("64", "64Gi")),
        ];
        let small = json!({"cpu": "500m", "memory": "1Gi"});
        let rows = [
            ("", Value::Null, "d"),
            ("tier=dev", Value::Null, "b"),
            ("tier in (dev,test)", Value::Null, "b"),
            (
                "tier=none",
                Value::Null,
                "No clusters found with matching criteria: tier=none",
            ),
            ("tier=dev", small.clone(), "b"),
            ("", small, "d"),
            (
                "tier in (dev,test)",
                json!({"cpu": 5, "memory": "1Gi"}),
                "c",
            ),
            ("tier!=prod", json!({"cpu": 3}), "b"),
            ("tier=dev", json!({"cpu": "3", "memory": "8Gi"}), "b"),
            (
                "tier=dev",
                json!({"cpu": "4", "memory": "1Gi"}),
                "No clusters found with required resources. cpu : 4, memory 1Gi.",
            ),
            (
                "",
                json!({"cpu": "much"}),
                "context.requests of the plan: cpu: \"much\" is not a quantity: write it like 16, 500m or 64Gi",
            ),
        ];
        for (selector, requests, expected) in rows {
            let chosen = choose(&all, selector, requests.as_object());
            let chosen = chosen.map_or_else(|error| error.to_string(), |name| name.to_string());
            assert_eq!(chosen, expected, "{selector} {requests}");
        }
        let broken = choose(&all, "tier in (dev", None);
        assert!(
            matches!(broken, Err(PlacementError::Selector { .. })),
            "{broken:?}"
        );
    }

    #[test]
    fn a_cluster_without_capacity_has_room_and_full_ones_have_none() {
        let mut all = vec![candidate("a", "dev", 0, ("1", "1Gi"))];
        let requests = json!({"cpu": "1m", "memory": "1"});
        let full = choose(&all, "", requests.as_object());
        assert!(matches!(full, Err(PlacementError::NoneHasRoom { .. })));
        all[0].cluster.capacity = None;
        let open = choose(&all, "", requests.as_object()).unwrap();
        assert_eq!(open.as_str(), "a");
    }

    #[test]
    fn instances_count_and_bindings_do_not() {
        let cluster = |name: &str| candidate(name, "dev", 0, ("1", "1Gi")).cluster;
        let labels = |json: Value| serde_json::from_value::<BTreeMap<_, _>>(json).unwrap();
        let names = ["a", "b"].map(|name| ClusterName::parse(name).unwrap());
        let (instance, binding, other) = (
            labels(json!({INSTANCE_LABEL: "i", PLAN_LABEL: "p"})),
            labels(json!({INSTANCE_LABEL: "i", BINDING_LABEL: "b", PLAN_LABEL: "p"})),
            labels(json!({})),
        );
        let deployments = [
            (&names[0], &instance),
            (&names[0], &instance),
            (&names[0], &binding),
            (&names[1], &other),
        ];
        let needs = ResourceRequests { cpu: 2, memory: 3 };
        let needs = BTreeMap::from([("p".to_owned(), needs)]);
        let found = candidates(vec![cluster("a"), cluster("b")], deployments, &needs);
        let found = found.iter().map(|one| (one.instances, one.used.cpu));
        assert_eq!(found.collect::<Vec<_>>(), [(2, 4), (0, 0)]);
    }
}
