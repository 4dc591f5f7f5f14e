//! The implicit order: which objects use which others, read from their fields.
//!
//! A pod does not start without its config maps. An API server rejects a pod without its service account or priority
//! class. A webhook without its server blocks all later objects. Only objects of the same deployment are considered,
//! and they only have to exist. Servers of webhooks and of API groups must be ready.

use std::collections::{BTreeSet, HashMap};

use common::api::deployer::EdgeReason;
use serde_json::Value;

use super::Dependency;
use crate::plan::object::Object;

/// Quotas and limits of one namespace that its pods wait for. Real namespaces have fewer.
const LIMITS: usize = 16;

const CORE: &str = "";
const RBAC: &str = "rbac.authorization.k8s.io";

/// Group, kind, namespace and name.
type Key<'a> = (&'a str, &'a str, Option<&'a str>, &'a str);

/// The objects that others may use.
pub struct Uses<'a> {
    objects: HashMap<Key<'a>, usize>,
    /// Bindings, by the namespace and name of a service account that they bind.
    bindings: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Quotas and limits, by their namespace.
    limits: HashMap<&'a str, Vec<usize>>,
    /// Pods and objects that create pods: the namespace, the labels of the pods, the index.
    servers: Vec<(Option<&'a str>, &'a Value, usize)>,
    values: Vec<&'a Value>,
}

/// One use: the other object, and the field that names it.
struct Use<'a> {
    key: Key<'a>,
    field: &'static str,
}

impl<'a> Uses<'a> {
    pub fn new(objects: &'a [Object]) -> Self {
        let mut uses = Self {
            objects: HashMap::new(),
            bindings: HashMap::new(),
            limits: HashMap::new(),
            servers: Vec::new(),
            values: objects.iter().map(|object| &object.value).collect(),
        };
        for (index, object) in objects.iter().enumerate() {
            uses.add(index, object);
        }
        uses
    }

    fn add(&mut self, index: usize, object: &'a Object) {
        let (id, namespace) = (&object.id, object.id.namespace.as_deref());
        let key = (id.group(), id.kind.as_str(), namespace, id.name.as_str());
        self.objects.insert(key, index);
        match (id.group(), id.kind.as_str(), namespace) {
            (RBAC, "RoleBinding" | "ClusterRoleBinding", _) => {
                for account in accounts(&object.value, namespace) {
                    self.bindings.entry(account).or_default().push(index);
                }
            }
            (CORE, "LimitRange" | "ResourceQuota", Some(namespace)) => {
                self.limits.entry(namespace).or_default().push(index);
            }
            _ => {}
        }
        if let Some((_, labels)) = pod(object) {
            self.servers.push((namespace, labels, index));
        }
    }

    /// All uses of the object.
    pub fn of(&self, object: &'a Object) -> Vec<Dependency> {
        let mut found: Vec<Dependency> = fields(object)
            .into_iter()
            .filter_map(|used| Some(dependency(*self.objects.get(&used.key)?, used.field, false)))
            .collect();
        if let Some((spec, _)) = pod(object) {
            found.extend(self.of_pod(object, spec));
        }
        for service in served_by(object) {
            found.extend(self.behind(service));
        }
        found
    }

    /// The permissions of a pod's service account, and the limits of its namespace.
    fn of_pod(&self, object: &'a Object, spec: &'a Value) -> impl Iterator<Item = Dependency> {
        let namespace = object.id.namespace.as_deref().unwrap_or_default();
        let bindings = self.bindings.get(&(namespace, account(spec)));
        let bindings = bindings.into_iter().flatten();
        let limits = self.limits.get(namespace).into_iter().flatten();
        let bindings =
            bindings.map(|&on| dependency(on, "the rights of its service account", false));
        bindings.chain(
            limits
                .take(LIMITS)
                .map(|&on| dependency(on, "the limits of its namespace", false)),
        )
    }

    /// A service uses the pods behind it.
    fn behind(&self, service: Key<'a>) -> Vec<Dependency> {
        let Some(&index) = self.objects.get(&service) else {
            return Vec::new();
        };
        let mut found = vec![dependency(index, "the service that it calls", false)];
        let selector = self.values[index]["spec"]["selector"].as_object();
        let Some(selector) = selector.filter(|selector| !selector.is_empty()) else {
            return found;
        };
        let serves = |labels: &Value| {
            selector
                .iter()
                .all(|(key, value)| labels.get(key) == Some(value))
        };
        found.extend(
            self.servers
                .iter()
                .filter(|(namespace, labels, _)| *namespace == service.2 && serves(labels))
                .map(|(_, _, on)| {
                    dependency(*on, "the server behind the service that it calls", true)
                }),
        );
        found
    }
}

fn dependency(on: usize, detail: &str, ready: bool) -> Dependency {
    Dependency {
        on,
        ready,
        because: EdgeReason::Use,
        detail: detail.to_owned(),
    }
}

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value[field].as_array().into_iter().flatten()
}

/// The service accounts that a binding binds.
fn accounts<'a>(
    binding: &'a Value,
    namespace: Option<&'a str>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    items(binding, "subjects")
        .filter(|subject| subject["kind"] == "ServiceAccount")
        .filter_map(move |subject| {
            Some((
                subject["namespace"].as_str().or(namespace)?,
                subject["name"].as_str()?,
            ))
        })
}

fn account(spec: &Value) -> &str {
    ["serviceAccountName", "serviceAccount"]
        .iter()
        .find_map(|field| spec[*field].as_str())
        .unwrap_or("default")
}

/// The specification and the labels of the pods that the object is or creates.
fn pod(object: &Object) -> Option<(&Value, &Value)> {
    let value = &object.value;
    let template = match (object.id.group(), object.id.kind.as_str()) {
        (CORE, "Pod") => value,
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet")
        | (CORE, "ReplicationController")
        | ("batch", "Job") => &value["spec"]["template"],
        ("batch", "CronJob") => &value["spec"]["jobTemplate"]["spec"]["template"],
        _ => return None,
    };
    Some((&template["spec"], &template["metadata"]["labels"]))
}

/// The services that the API server calls because of the object.
fn served_by(object: &Object) -> BTreeSet<Key<'_>> {
    service_references(object)
        .into_iter()
        .filter_map(|reference| {
            Some((
                CORE,
                "Service",
                Some(reference["namespace"].as_str()?),
                reference["name"].as_str()?,
            ))
        })
        .collect()
}

fn service_references(object: &Object) -> Vec<&Value> {
    match (object.id.group(), object.id.kind.as_str()) {
        (
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => items(&object.value, "webhooks")
            .map(|webhook| &webhook["clientConfig"]["service"])
            .collect(),
        ("apiregistration.k8s.io", "APIService") => vec![&object.value["spec"]["service"]],
        _ => Vec::new(),
    }
}

/// The names in the object's own fields.
fn fields(object: &Object) -> Vec<Use<'_>> {
    let (spec, namespace) = (&object.value["spec"], object.id.namespace.as_deref());
    let mut named = Named {
        namespace,
        found: Vec::new(),
    };
    if let Some((spec, _)) = pod(object) {
        named.pod(spec);
    }
    match (object.id.group(), object.id.kind.as_str()) {
        ("apps", "StatefulSet") => {
            named.local((CORE, "Service"), &spec["serviceName"], "spec.serviceName");
            for claim in items(spec, "volumeClaimTemplates") {
                named.storage_class(&claim["spec"]);
            }
        }
        (CORE, "PersistentVolumeClaim") => {
            named.global(
                (CORE, "PersistentVolume"),
                &spec["volumeName"],
                "spec.volumeName",
            );
            named.storage_class(spec);
        }
        (CORE, "PersistentVolume") => named.storage_class(spec),
        (RBAC, "RoleBinding" | "ClusterRoleBinding") => named.binding(&object.value),
        ("networking.k8s.io", "Ingress") => {
            let class = ("networking.k8s.io", "IngressClass");
            named.global(class, &spec["ingressClassName"], "spec.ingressClassName");
            for tls in items(spec, "tls") {
                named.local((CORE, "Secret"), &tls["secretName"], "spec.tls");
            }
        }
        _ => {}
    }
    named.found
}

/// The names found so far, in an object of this namespace.
struct Named<'a> {
    namespace: Option<&'a str>,
    found: Vec<Use<'a>>,
}

impl<'a> Named<'a> {
    fn local(&mut self, kind: (&'a str, &'a str), name: &'a Value, field: &'static str) {
        self.push(kind, self.namespace, name, field);
    }

    fn global(&mut self, kind: (&'a str, &'a str), name: &'a Value, field: &'static str) {
        self.push(kind, None, name, field);
    }

    fn push(
        &mut self,
        (group, kind): (&'a str, &'a str),
        namespace: Option<&'a str>,
        name: &'a Value,
        field: &'static str,
    ) {
        self.found.extend(name.as_str().map(|name| Use {
            key: (group, kind, namespace, name),
            field,
        }));
    }

    fn storage_class(&mut self, spec: &'a Value) {
        let class = ("storage.k8s.io", "StorageClass");
        self.global(class, &spec["storageClassName"], "storageClassName");
    }

    fn binding(&mut self, binding: &'a Value) {
        let role = &binding["roleRef"];
        match role["kind"].as_str() {
            Some("Role") => self.local((RBAC, "Role"), &role["name"], "roleRef"),
            _ => self.global((RBAC, "ClusterRole"), &role["name"], "roleRef"),
        }
        for (namespace, name) in accounts(binding, self.namespace) {
            self.found.push(Use {
                key: (CORE, "ServiceAccount", Some(namespace), name),
                field: "subjects",
            });
        }
    }

    fn pod(&mut self, spec: &'a Value) {
        self.found.extend(self.namespace.map(|namespace| Use {
            key: (CORE, "ServiceAccount", Some(namespace), account(spec)),
            field: "serviceAccountName",
        }));
        let priority = ("scheduling.k8s.io", "PriorityClass");
        self.global(priority, &spec["priorityClassName"], "priorityClassName");
        let runtime = ("node.k8s.io", "RuntimeClass");
        self.global(runtime, &spec["runtimeClassName"], "runtimeClassName");
        for secret in items(spec, "imagePullSecrets") {
            self.local((CORE, "Secret"), &secret["name"], "imagePullSecrets");
        }
        for volume in items(spec, "volumes") {
            self.volume(volume);
        }
        for containers in ["initContainers", "containers"] {
            items(spec, containers).for_each(|container| self.container(container));
        }
    }

    fn volume(&mut self, volume: &'a Value) {
        let claim = &volume["persistentVolumeClaim"]["claimName"];
        self.local((CORE, "PersistentVolumeClaim"), claim, "volumes");
        self.local((CORE, "ConfigMap"), &volume["configMap"]["name"], "volumes");
        self.local((CORE, "Secret"), &volume["secret"]["secretName"], "volumes");
        for source in items(&volume["projected"], "sources") {
            self.local((CORE, "ConfigMap"), &source["configMap"]["name"], "volumes");
            self.local((CORE, "Secret"), &source["secret"]["name"], "volumes");
        }
    }

    fn container(&mut self, container: &'a Value) {
        for source in items(container, "envFrom") {
            self.local(
                (CORE, "ConfigMap"),
                &source["configMapRef"]["name"],
                "envFrom",
            );
            self.local((CORE, "Secret"), &source["secretRef"]["name"], "envFrom");
        }
        for variable in items(container, "env") {
            let source = &variable["valueFrom"];
            self.local(
                (CORE, "ConfigMap"),
                &source["configMapKeyRef"]["name"],
                "env",
            );
            self.local((CORE, "Secret"), &source["secretKeyRef"]["name"], "env");
        }
    }
}
