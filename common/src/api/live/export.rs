//! `GET` and `POST /export`: live objects, read with the rights of the caller. The values of Secrets are masked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{ClusterName, Identity, Namespace, TypeName};

/// How many kinds and objects one request may name.
pub const SELECTED: usize = 100;

/// The kinds of a query that names none: what users write, and not what controllers make of it.
pub const USUAL_KINDS: [&str; 15] = [
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
    "Service",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "CronJob",
    "Ingress",
    "NetworkPolicy",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
];

/// The query of `GET /export`, whose answer is a Template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExportQuery {
    /// Kinds, separated by commas. Default: what users usually write, such as workloads, services, config maps and secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[!-+.-~-]+(,[!-+.-~-]+){0,99}$", "maxLength" = 2000))]
    pub kind: Option<String>,
    /// Only objects of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Labels of the objects, as Kubernetes writes them: `tier=front,team!=a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The cluster to read. Default: that of the manager's own resourcifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
}

/// Which objects to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Export {
    /// Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The cluster to read. Default: that of the manager's own resourcifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// From 1 to 100. An object that two of them select comes twice.
    #[schemars(length(min = 1, max = SELECTED))]
    pub objects: Vec<Selected>,
    /// For kinds without a name, as Kubernetes writes it: `tier=front,team!=a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
}

/// All objects of a kind, or one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selected {
    /// A kind, such as `Deployment` or `apps/v1/Deployment`.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// Absent: all objects of the kind that have the labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// The answer: the live objects, in the order of the request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Exported {
    /// As the API server returns them, with the values of Secrets masked.
    pub items: Vec<Value>,
}

/// `POST /configurations/export` of resourcifier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportRequest {
    /// The cluster in it is ignored: each resourcifier has one.
    pub export: Export,
    /// The user to impersonate in requests to the cluster. Absent without authentication: then resourcifier uses its
    /// own identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<Identity>,
}
