//! What the cluster can do: `.Capabilities`.

use std::any::Any;
use std::rc::Rc;

use expandybird_gotemplate::value::{
    Function, GoString, List, ListClass, Object, ObjectKind, Type, Value,
};

/// What the cluster can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The version of Kubernetes, as `v1.37.0`.
    pub kube_version: String,
    /// `GROUP/VERSION`, and of a cluster also `GROUP/VERSION/KIND`.
    pub api_versions: Vec<String>,
    /// Whether what the chart defines in `crds/` counts, too: a cluster serves it before anything else is applied.
    pub adds_definitions: bool,
}

impl Default for Capabilities {
    /// What Helm 4.3.1 takes for granted without a cluster.
    fn default() -> Self {
        Self {
            kube_version: "v1.37.0".to_owned(),
            api_versions: KNOWN.iter().map(|&version| version.to_owned()).collect(),
            adds_definitions: false,
        }
    }
}

/// The versions that Helm knows without a cluster. They have no kinds.
const KNOWN: &[&str] = &[
    "v1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "certificates.k8s.io/v1alpha1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "lifecycle.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "resource.k8s.io/v1",
    "resource.k8s.io/v1beta2",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1alpha3",
    "scheduling.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storagemigration.k8s.io/v1",
    "storagemigration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
];

impl Capabilities {
    /// The version without what a provider added: `v1.25.3` of `v1.25.3-gke.100`.
    #[must_use]
    pub fn plain_version(&self) -> String {
        format!("v{}", numbers(&self.kube_version).join("."))
    }

    /// The object that templates see.
    pub(crate) fn value(&self) -> Value {
        Value::Object(Rc::new(CapabilitiesObject {
            kube_version: KubeVersion {
                version: match self.kube_version.starts_with('v') {
                    true => self.kube_version.clone(),
                    false => format!("v{}", self.kube_version),
                },
                plain: self.plain_version(),
            },
            api_versions: self.api_versions.clone(),
        }))
    }
}

/// The numbers at the start of a version.
fn numbers(version: &str) -> Vec<&str> {
    let text = version.trim_start().trim_start_matches('v');
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let text = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    text.split('.')
        .filter(|number| !number.is_empty())
        .collect()
}

#[derive(Debug)]
struct CapabilitiesObject {
    kube_version: KubeVersion,
    api_versions: Vec<String>,
}

impl Object for CapabilitiesObject {
    fn type_name(&self) -> &str {
        "*common.Capabilities"
    }

    fn kind(&self) -> ObjectKind {
        ObjectKind::Pointer
    }

    fn field_names(&self) -> &'static [&'static str] {
        &["KubeVersion", "APIVersions", "HelmVersion"]
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(Value::Object(Rc::new(self.kube_version.clone()))),
            "APIVersions" => {
                let versions = self.api_versions.iter();
                let list = List::strings(versions.map(|version| version.as_str().into()));
                Some(list.with_class(&VERSION_SET).into())
            }
            "HelmVersion" => Some(Value::Object(Rc::new(HelmVersion))),
            _ => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

static VERSION_SET: ListClass = ListClass {
    type_name: "common.VersionSet",
    methods: &[Function::new("Has", &[Type::String], |call| {
        let wanted = call.string(0)?;
        let has = match call.receiver() {
            Value::List(list) => list.items().iter().any(|version| match version {
                Value::String(version) => version == wanted,
                _ => false,
            }),
            _ => false,
        };
        Ok(has.into())
    })],
};

#[derive(Clone, Debug)]
struct KubeVersion {
    version: String,
    plain: String,
}

impl Object for KubeVersion {
    fn type_name(&self) -> &str {
        "common.KubeVersion"
    }

    fn field_names(&self) -> &'static [&'static str] {
        &["Version", "Major", "Minor"]
    }

    fn field(&self, name: &str) -> Option<Value> {
        let number = |index: usize| numbers(&self.version).get(index).copied().map(Value::from);
        match name {
            "Version" => Some(self.version.as_str().into()),
            "Major" => number(0),
            "Minor" => number(1),
            _ => None,
        }
    }

    fn methods(&self) -> &'static [Function] {
        KUBE_VERSION
    }

    fn text(&self) -> Option<GoString> {
        Some(self.plain.as_str().into())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

const KUBE_VERSION: &[Function] = &[
    Function::new("GitVersion", &[], |call| {
        Ok(kube_version(call.receiver()).map_or(Value::Nil, |one| one.version.as_str().into()))
    }),
    Function::new("String", &[], |call| {
        Ok(kube_version(call.receiver()).map_or(Value::Nil, |one| one.plain.as_str().into()))
    }),
];

fn kube_version(receiver: &Value) -> Option<&KubeVersion> {
    match receiver {
        Value::Object(object) => object.as_any().downcast_ref(),
        _ => None,
    }
}

/// The version of Helm that this renders as.
#[derive(Debug)]
struct HelmVersion;

impl Object for HelmVersion {
    fn type_name(&self) -> &str {
        "version.BuildInfo"
    }

    fn field_names(&self) -> &'static [&'static str] {
        &[
            "Version",
            "GitCommit",
            "GitTreeState",
            "GoVersion",
            "KubeClientVersion",
        ]
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Version" => Some("v4.3.1".into()),
            "GitCommit" | "GitTreeState" => Some("".into()),
            "GoVersion" => Some("go1.26".into()),
            "KubeClientVersion" => Some("v1.37".into()),
            _ => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
