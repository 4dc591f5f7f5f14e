//! The objects of the tester: which kinds there are, how an object with a value looks, and how its value is read.
//!
//! Each object carries one number, at a place where its kind keeps it: so "is the live object what was asked for" is one
//! comparison for all kinds.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use e2e::api_client::Collection;
use serde_json::{Value, json};

use super::Names;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Map,
    /// A ConfigMap with `immutable: true`.
    Fixed,
    Secret,
    Service,
    Pod,
    /// A Deployment of one pod.
    Workload,
    Job,
    /// An object of the sequence's own definition.
    Custom,
    /// A Namespace.
    Space,
    /// A CustomResourceDefinition.
    Definition,
}

/// When pods become ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Well,
    /// So many milliseconds after their start.
    Slow(u64),
    Never,
}

/// One object of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The deployment that alone asks for it; absent: several may.
    pub owner: Option<usize>,
    pub kind: Kind,
    pub number: u8,
    /// Whether it is in the sequence's second namespace.
    pub second: bool,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Map,
        Kind::Fixed,
        Kind::Secret,
        Kind::Service,
        Kind::Pod,
        Kind::Workload,
        Kind::Job,
        Kind::Custom,
        Kind::Space,
        Kind::Definition,
    ];

    /// The kinds with collections of their own: `Fixed` are ConfigMaps too.
    pub const COLLECTIONS: [Kind; 9] = [
        Kind::Map,
        Kind::Secret,
        Kind::Service,
        Kind::Pod,
        Kind::Workload,
        Kind::Job,
        Kind::Custom,
        Kind::Space,
        Kind::Definition,
    ];

    fn word(self) -> &'static str {
        match self {
            Kind::Map => "map",
            Kind::Fixed => "fixed",
            Kind::Secret => "secret",
            Kind::Service => "service",
            Kind::Pod => "pod",
            Kind::Workload => "workload",
            Kind::Job => "job",
            Kind::Custom => "thing",
            Kind::Space => "space",
            Kind::Definition => "definition",
        }
    }

    /// The Kubernetes kind.
    pub fn kubernetes(self) -> &'static str {
        match self {
            Kind::Map | Kind::Fixed => "ConfigMap",
            Kind::Secret => "Secret",
            Kind::Service => "Service",
            Kind::Pod => "Pod",
            Kind::Workload => "Deployment",
            Kind::Job => "Job",
            Kind::Custom => "Thing",
            Kind::Space => "Namespace",
            Kind::Definition => "CustomResourceDefinition",
        }
    }

    /// Version and plural, as in the API server's paths.
    pub fn served(self, names: &Names) -> (String, &'static str) {
        let (version, resource) = match self {
            Kind::Map | Kind::Fixed => ("api/v1", "configmaps"),
            Kind::Secret => ("api/v1", "secrets"),
            Kind::Service => ("api/v1", "services"),
            Kind::Pod => ("api/v1", "pods"),
            Kind::Workload => ("apis/apps/v1", "deployments"),
            Kind::Job => ("apis/batch/v1", "jobs"),
            Kind::Custom => return (format!("apis/{}/v1", names.group()), "things"),
            Kind::Space => ("api/v1", "namespaces"),
            Kind::Definition => ("apis/apiextensions.k8s.io/v1", "customresourcedefinitions"),
        };
        (version.to_owned(), resource)
    }

    pub fn collection(self, names: &Names, second: bool) -> Collection {
        let (version, resource) = self.served(names);
        Collection {
            version,
            resource,
            namespace: self.namespace(names, second),
        }
    }

    /// Where its objects are; none for kinds of the whole cluster.
    pub fn namespace(self, names: &Names, second: bool) -> Option<String> {
        let [first, other] = names.namespaces();
        let namespace = if second { other } else { first };
        Some(namespace).filter(|_| !self.is_cluster_wide())
    }

    pub fn is_cluster_wide(self) -> bool {
        matches!(self, Kind::Space | Kind::Definition)
    }

    /// The type in a configuration.
    pub fn type_name(self, names: &Names) -> String {
        match self {
            Kind::Custom => format!("{}/v1/Thing", names.group()),
            kind => kind.kubernetes().to_owned(),
        }
    }

    /// Whether the value cannot be changed in place.
    pub fn is_immutable(self) -> bool {
        matches!(self, Kind::Fixed | Kind::Job)
    }

    /// All of an object that does not follow from its name.
    pub fn body(self, value: u32, pace: Pace) -> Value {
        let text = value.to_string();
        let pod = json!({"containers": [{"name": "main", "image": image(pace)}]});
        match self {
            Kind::Map => json!({"data": {"v": text}}),
            Kind::Fixed => json!({"data": {"v": text}, "immutable": true}),
            Kind::Secret => json!({"data": {"v": STANDARD.encode(text)}}),
            Kind::Service => {
                json!({"spec": {"ports": [{"port": 8000 + value}], "selector": {"app": "none"}}})
            }
            Kind::Pod => json!({"metadata": {"annotations": {"v": text}}, "spec": pod}),
            Kind::Workload => {
                let labels = json!({"app": "sequence"});
                json!({"spec": {
                    "selector": {"matchLabels": labels},
                    "template": {"metadata": {"labels": labels, "annotations": {"v": text}}, "spec": pod},
                }})
            }
            Kind::Job => {
                let mut pod = pod;
                pod["restartPolicy"] = json!("Never");
                json!({"spec": {"template": {"metadata": {"annotations": {"v": text}}, "spec": pod}}})
            }
            Kind::Custom => json!({"spec": {"v": text}}),
            Kind::Space | Kind::Definition => json!({"metadata": {"annotations": {"v": text}}}),
        }
    }

    /// A merge patch that gives an object another value. Of an immutable kind the API server refuses it.
    pub fn patch(self, value: u32) -> Value {
        let text = value.to_string();
        match self {
            Kind::Service => json!({"spec": {"ports": [{"port": 8000 + value}]}}),
            Kind::Pod | Kind::Space | Kind::Definition => {
                json!({"metadata": {"annotations": {"v": text}}})
            }
            Kind::Workload | Kind::Job => {
                json!({"spec": {"template": {"metadata": {"annotations": {"v": text}}}}})
            }
            kind => {
                let mut body = kind.body(value, Pace::Well);
                if let Some(fields) = body.as_object_mut() {
                    fields.remove("immutable");
                }
                body
            }
        }
    }
}

/// The kind of a live or configured object, by its Kubernetes kind.
pub fn kind_of(kubernetes: &str) -> Option<Kind> {
    let name = kubernetes.rsplit('/').next().unwrap_or(kubernetes);
    Kind::COLLECTIONS
        .into_iter()
        .find(|kind| kind.kubernetes() == name)
}

/// The number that an object carries, live or as it is configured.
pub fn value_in(kubernetes: &str, object: &Value) -> Option<u32> {
    let text = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    match kind_of(kubernetes)? {
        Kind::Map | Kind::Fixed => text(&object["data"]["v"]),
        Kind::Secret => {
            let bytes = STANDARD.decode(object["data"]["v"].as_str()?).ok()?;
            String::from_utf8(bytes).ok()?.parse().ok()
        }
        Kind::Service => {
            let port = object["spec"]["ports"][0]["port"].as_u64()?;
            u32::try_from(port.checked_sub(8000)?).ok()
        }
        Kind::Pod | Kind::Space | Kind::Definition => text(&object["metadata"]["annotations"]["v"]),
        Kind::Workload | Kind::Job => {
            text(&object["spec"]["template"]["metadata"]["annotations"]["v"])
        }
        Kind::Custom => text(&object["spec"]["v"]),
    }
}

fn image(pace: Pace) -> String {
    match pace {
        Pace::Well => "simulated.invalid/well".to_owned(),
        Pace::Slow(ms) => format!("simulated.invalid/slow:{ms}ms"),
        Pace::Never => "simulated.invalid/unready".to_owned(),
    }
}

impl ObjectId {
    /// An object that only this deployment asks for.
    pub const fn own(owner: usize, kind: Kind, number: u8) -> Self {
        Self {
            owner: Some(owner),
            kind,
            number,
            second: false,
        }
    }

    /// An object that several deployments may ask for.
    pub const fn shared(kind: Kind, number: u8) -> Self {
        Self {
            owner: None,
            kind,
            number,
            second: false,
        }
    }

    pub fn name(self, names: &Names) -> String {
        let (word, number) = (self.kind.word(), self.number);
        if self.kind == Kind::Definition {
            let [plural, group] = self.defines(names);
            return format!("{plural}.{group}");
        }
        match self.owner {
            Some(owner) => format!("{}-{word}{number}", names.deployment(owner)),
            None => format!("{}-shared-{word}{number}", names.prefix),
        }
    }

    pub fn collection(self, names: &Names) -> Collection {
        self.kind.collection(names, self.second)
    }

    /// The plural and the group of the kind that a definition defines.
    fn defines(self, names: &Names) -> [String; 2] {
        let owner = self
            .owner
            .map_or("shared".to_owned(), |owner| format!("d{owner}"));
        let group = format!("{owner}.{}", names.group());
        [format!("kind{}s", self.number), group]
    }

    /// All of the object but its API version, kind and name.
    pub fn body(self, names: &Names, value: u32, pace: Pace) -> Value {
        let mut body = self.kind.body(value, pace);
        if self.kind == Kind::Definition {
            let [plural, group] = self.defines(names);
            let singular = plural.trim_end_matches('s');
            body["spec"] = json!({
                "group": group, "scope": "Namespaced",
                "names": {"plural": plural, "singular": singular, "kind": format!("Kind{}", self.number), "listKind": format!("Kind{}List", self.number)},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            });
        }
        body
    }

    /// The whole object, as somebody else makes it.
    pub fn object(self, names: &Names, value: u32) -> Value {
        let mut object = self.body(names, value, Pace::Well);
        let (version, _) = self.kind.served(names);
        let version = version
            .trim_start_matches("apis/")
            .trim_start_matches("api/");
        object["apiVersion"] = json!(version);
        object["kind"] = json!(self.kind.kubernetes());
        object["metadata"]["name"] = json!(self.name(names));
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_every_kind_is_read_where_it_is_written() {
        for kind in Kind::ALL {
            for object in [kind.body(7, Pace::Never), kind.patch(7)] {
                assert_eq!(value_in(kind.kubernetes(), &object), Some(7), "{kind:?}");
            }
        }
    }
}
