//! Requests to the manager and its answers, apart from the types of [`crate::model`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cluster::Capabilities;
use super::deployer::{
    EdgeReason, ObjectState, ObjectStatus, Policies, ResourceDiff, ResourceReport,
};
use super::error::ErrorBody;
use super::page::PageQuery;
use crate::model::limits::{DESCRIPTION_CHARS, LABELS, OPERATION_MS};
use crate::model::{
    ClusterName, ConflictPolicy, CreatePolicy, CredentialName, CredentialType, DeletePolicy,
    DeploymentName, DeploymentStatus, DiffSummary, DriftPolicy, GeneratedValue, Import, LayoutPath,
    ManifestName, Namespace, ObjectRef, Operation, OperationId, Predecessor, Regenerates,
    RegistryDefinition, ResolvedType, ResourceName, SecretValue, ServiceAccountName, TypeName,
    UpdatePolicy,
};

/// The header that makes a write safe to repeat. Within a day, the same key with the same request is the same
/// operation.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The header `Idempotent-Replayed: true` marks the recorded answer to a repeated request. What the answer describes
/// may have changed or may be deleted since.
pub const IDEMPOTENT_REPLAYED: &str = "idempotent-replayed";

/// The schema of labels.
#[derive(schemars::JsonSchema)]
#[schemars(transparent, extend(
    "maxProperties" = LABELS,
    "propertyNames" = {"pattern": r"^[^\x00-\x1f\x7f-\x9f]{1,253}$"},
    "additionalProperties" = {"type": "string", "pattern": r"^[^\x00-\x1f\x7f-\x9f]{0,253}$"},
))]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Labels(BTreeMap<String, String>);

/// `POST /deployments`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateDeployment {
    /// Unique in this manager. It cannot be changed later.
    pub name: DeploymentName,
    /// The YAML text of the configuration.
    pub content: String,
    /// The files that the configuration needs: templates, schemas, files that templates read.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// The namespace of namespaced objects that name none. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The cluster to apply it to. Default: that of the manager's own resourcifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// Free text, at most 4,096 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("maxLength" = DESCRIPTION_CHARS))]
    pub description: String,
    /// At most 64, for selectors such as `GET /deployments?labelSelector=`. They do not become labels of objects.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Labels")]
    pub labels: BTreeMap<String, String>,
    /// What to do about drift that a scheduled check finds.
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    /// The service account of the namespace to apply everything as. The caller needs the permission to impersonate it.
    /// Absent: everything is applied as the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
}

/// `PUT /deployments/{d}`: a whole new configuration, other properties for the stored one, or the preview to commit. Absent
/// fields keep their values.
///
/// Also the body of `POST /deployments/{d}/diff`. There, `manifest` may be any manifest of the deployment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"title": "NewConfiguration", "description": "A whole new configuration.", "required": ["content"],
        "properties": {"manifest": false, "properties": false, "resetProperties": false}},
    {"title": "CommitPreview", "description": "The preview to commit.", "required": ["manifest"],
        "properties": {"content": false, "imports": false, "properties": false, "resetProperties": false}},
    {"title": "ChangedProperties", "description": "Other properties for the stored configuration.", "required": ["properties"],
        "properties": {"content": false, "manifest": false, "imports": false}},
]))]
pub struct UpdateDeployment {
    /// The YAML text of the new configuration. Give this, `properties` or `manifest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The files that the new configuration needs. Only with `content`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Import>,
    /// The preview of the deployment. It is applied exactly as it was previewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    /// Changes the properties of the stored configuration's only resource, as a JSON merge patch (RFC 7396): maps are merged,
    /// `null` removes a property, everything else replaces it. All other properties stay, and templates keep their recorded
    /// versions. `{}` deploys the stored configuration again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
    /// With `properties`: forget the stored properties first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reset_properties: bool,
    /// The cluster that the deployment must be on. An update never moves a deployment to another cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// Free text, at most 4,096 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxLength" = DESCRIPTION_CHARS))]
    pub description: Option<String>,
    /// Replaces all labels: a label that is not given is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Labels>")]
    pub labels: Option<BTreeMap<String, String>>,
    /// What to do about drift that a scheduled check finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_policy: Option<DriftPolicy>,
    /// As in a create. `null` removes it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[schemars(with = "Option<ServiceAccountName>")]
    pub service_account: Option<Option<ServiceAccountName>>,
}

/// Distinguishes `null` from an absent field.
pub fn present<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: serde::Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// `POST /deployments/{d}/rollback`: to a manifest of the deployment, with its stored expansion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RollbackDeployment {
    /// The manifest whose configuration is restored.
    pub manifest: ManifestName,
}

/// The query of every write. Unknown parameters are rejected, so that a typing mistake does not change the cluster. So
/// are parameters that do not fit the write, such as the preview of a delete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteQuery {
    /// The deadline of the whole operation, in milliseconds. Default: the manager's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = OPERATION_MS))]
    pub timeout_ms: Option<u64>,
    /// Stores what would happen and applies nothing. For creates and updates.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preview: bool,
    /// Allows an update or a rollback to delete all or more than half of the deployment's objects. Allows any write to
    /// delete a namespace together with the objects of others in it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_deletes: bool,
    /// Creates the deployment's namespace if it is missing. It is none of the deployment's objects: it stays when the
    /// deployment is deleted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub create_namespace: bool,
    /// `false` skips the dry run of all objects that otherwise comes before the first write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<bool>,
    /// `false` runs no hooks of charts. Their objects stay as they are; a delete deletes them without running them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<bool>,
    /// The tool that managed the objects before. Its field managers lose the fields of all objects that the deployment
    /// owns afterwards, so that later changes meet no conflict with it. For creates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predecessor: Option<Predecessor>,
    /// Undoes a create or an update that fails while it is applied. The deployment goes back to the manifest that was
    /// last deployed, or is removed if there is none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rollback_on_failure: bool,
    /// For updates: template references keep the files that they had in the latest manifest. A reference that is not
    /// recorded there is rejected.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
    /// For updates: generated values that are made again. Each is a path of the layout, with the name of a parameter or
    /// without. May be repeated.
    #[serde(default, skip_serializing_if = "Regenerates::is_empty")]
    pub regenerate: Regenerates,
    /// The policies of the request.
    #[serde(flatten)]
    pub policies: PolicyQuery,
}

/// The policies of a whole request. Each overrides that of every resource. A commit uses those of its preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyQuery {
    /// Default: that of each resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_policy: Option<CreatePolicy>,
    /// Default: that of each resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<UpdatePolicy>,
    /// Default: that of each resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_policy: Option<ConflictPolicy>,
    /// The only policy of a `DELETE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_policy: Option<DeletePolicy>,
}

impl From<&PolicyQuery> for Policies {
    fn from(query: &PolicyQuery) -> Self {
        Self {
            create: query.create_policy,
            update: query.update_policy,
            delete: query.delete_policy,
            conflict: query.conflict_policy,
        }
    }
}

/// The query of `POST /deployments/{d}/diff`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiffQuery {
    /// The deadline of the whole comparison, in milliseconds. Default: the manager's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = OPERATION_MS))]
    pub timeout_ms: Option<u64>,
    /// The namespace of a deployment that does not exist yet. An existing one has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The cluster, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// As for an update with `locked`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
    /// `false` compares without the hooks of charts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<bool>,
    /// The policies that the update would have.
    #[serde(flatten)]
    pub policies: PolicyQuery,
}

/// The answer of `POST /deployments/{d}/diff`: what an update would do now. Nothing is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// How many resources have each action.
    pub summary: DiffSummary,
    /// Every desired resource in its order, then the objects to prune.
    pub resources: Vec<ResourceDiff>,
    /// Sentences for the user. They do not stop an update.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// `POST /expand`: expands as a create would. Nothing is stored or applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expand {
    /// The name of the deployment that templates see.
    pub name: DeploymentName,
    /// The YAML text of the configuration.
    pub content: String,
    /// The files that the configuration needs.
    #[serde(default)]
    pub imports: Vec<Import>,
    /// The namespace that templates see. Default: `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// The cluster whose abilities charts see. Default: that of the manager's own resourcifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// The source of generated values: the same seed gives the same values. Default: a random one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// What charts see of a cluster. Default: what the cluster can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
}

/// The answer of `POST /expand`: the parts of a manifest that an expansion makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    /// Primitives only.
    pub expanded_config: crate::model::Configuration,
    /// The tree of template instances and primitives.
    pub layout: crate::model::Layout,
    /// Each template reference with what it resolved to, in the order of resolution.
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    /// The outputs of the configuration, with references that are not replaced yet.
    #[serde(default)]
    pub outputs: Vec<crate::model::Output>,
    /// Sentences for the user. They do not stop a deploy.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// What the template has to say to its user after a deploy (`info.notes` of its schema).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The names and kinds of outputs, for each template instance of the configuration itself that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_outputs: Vec<crate::model::InstanceOutputs>,
    /// The secret values in it. The manager keeps them, and no answer contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub secrets: Vec<SecretValue>,
    /// The values that templates made up. The manager keeps them, and no answer contains them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub values: Vec<GeneratedValue>,
    /// What its plans of the Inter-operator have to say. The manager uses it, and no answer contains it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub plans: Vec<super::plan::PlanAnswer>,
}

/// An item of `GET /deployments/{d}/manifests`. `GET /deployments/{d}/manifests/{m}` returns the contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestSummary {
    /// Chosen by the manager. Sorts by age within the deployment.
    pub name: ManifestName,
    /// The deployment that it belongs to.
    pub deployment: DeploymentName,
    /// When the manifest was stored, which is before it was applied.
    pub created_at: jiff::Timestamp,
    /// Its number among the deployment's manifests, from 1. Absent in manifests of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Since when it was the deployment's latest manifest. Absent in previews and in manifests of earlier managers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force_from: Option<jiff::Timestamp>,
    /// Until when. Absent while it is the latest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_force_until: Option<jiff::Timestamp>,
    /// The templates that it uses, each with the exact version: `redis:v1.0.1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<String>,
}

/// An item of `GET /types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TypeSummary {
    /// A template reference, a kind, or the name of an import.
    pub name: TypeName,
    /// How many instances active deployments have.
    pub instances: u64,
}

/// An item of `GET /types/{t}/instances`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TypeInstance {
    /// The name of the resource, unique only among its siblings in the layout.
    pub name: ResourceName,
    /// As the configuration or template writes it.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// The deployment that has the instance.
    pub deployment: DeploymentName,
    /// The deployment's latest manifest, or with `at` the one that was in force then.
    pub manifest: ManifestName,
    /// The layout path in the manifest.
    pub path: LayoutPath,
}

/// The query of `GET /types/{t}/instances`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstancesQuery {
    /// How many items. Default: 100. A limit above 1,000 counts as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// The `nextPageToken` of the previous page. The rest of the query must be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// A past moment: the instances of the manifests that were in force then. Deployments that were deleted since, and manifests
    /// that are not kept, are not in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<jiff::Timestamp>,
}

impl InstancesQuery {
    /// The page that it asks for.
    pub fn page(&self) -> PageQuery {
        PageQuery {
            limit: self.limit,
            page_token: self.page_token.clone(),
        }
    }
}

/// `GET /deployments/{d}`: the deployment, and what the caller may do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentAnswer {
    /// All fields of a deployment.
    #[serde(flatten)]
    pub deployment: crate::model::Deployment,
    /// As the authorization of the manager decides now.
    pub may: DeploymentPermissions,
}

/// What the caller may do with a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentPermissions {
    /// Every change of it, and stopping it.
    pub update: Permission,
    /// Deleting it.
    pub delete: Permission,
}

/// Whether a caller may do something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// `false` comes with a `reason`.
    pub allowed: bool,
    /// Which permission is missing, and how it is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The answer of `GET /deployments`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "DeploymentPage")]
pub struct DeploymentList {
    /// In the order of `orderBy`.
    pub items: Vec<crate::model::DeploymentSummary>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
    /// With `counts`: how many deployments match the query without its `status`, by status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<BTreeMap<String, u64>>,
}

/// The query of `GET /deployments`. A deployment is in the answer if it meets all of these conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeploymentsQuery {
    /// How many items. Default: 100. A limit above 1,000 counts as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// The `nextPageToken` of the previous page. Its contents are opaque. The rest of the query must be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// Only deployments of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Only deployments of this cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterName>,
    /// Only deployments with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<DeploymentStatus>,
    /// Only deployments with these labels, as Kubernetes writes a selector: `tier=front,team!=a,app in (web,db),!old`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<String>,
    /// Only deployments that have an instance of this type.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<TypeName>,
    /// Only deployments whose name contains this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// Default: `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_by: Option<OrderBy>,
    /// `true`: the answer also counts all deployments that match, by status. The manager reads all deployments for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub counts: bool,
}

/// The order of a list of deployments.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum OrderBy {
    /// In alphabetical order.
    #[default]
    Name,
    /// What changed last comes first.
    ModifiedAt,
}

impl DeploymentsQuery {
    /// The page that it asks for.
    pub fn page(&self) -> PageQuery {
        PageQuery {
            limit: self.limit,
            page_token: self.page_token.clone(),
        }
    }
}

impl From<PageQuery> for DeploymentsQuery {
    fn from(page: PageQuery) -> Self {
        Self {
            limit: page.limit,
            page_token: page.page_token,
            ..Self::default()
        }
    }
}

/// The query of `GET /deployments/{d}/resources`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourcesQuery {
    /// How many items. Default: 100. A limit above 5,000 counts as 5,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// The `nextPageToken` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// `false`: the answer has no drift. To find it, the cluster does a dry run of each object that is not as it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<bool>,
}

/// The answer of `GET /deployments/{d}/resources`.
pub type Resources = super::page::Page<LiveResource>;

/// The present state of one recorded object, with the desired state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveResource {
    /// All fields of a recorded object and its state.
    #[serde(flatten)]
    pub status: ObjectStatus,
    /// Whether its state is `READY`.
    #[serde(default)]
    pub ready: bool,
    /// Its properties as they were applied, with their references replaced. Absent if there were no references, and for
    /// Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_properties: Option<Value>,
}

/// `GET /deployments/{d}/graph`: which resources of the latest manifest wait for which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Graph {
    /// Every primitive, in the order of the manifest.
    pub nodes: Vec<GraphNode>,
    /// Sorted by `from`, then by `to`.
    pub edges: Vec<GraphEdge>,
}

/// One primitive of the latest manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GraphNode {
    /// Not unique: several templates may have a resource of this name.
    pub name: ResourceName,
    /// A kind.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// The object that the primitive becomes.
    pub object: ObjectRef,
    /// With `live`: its present state. Absent if no object is recorded for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<ObjectState>,
    /// With `live`: why it is not ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The query of `GET /deployments/{d}/graph`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GraphQuery {
    /// `true`: each node has its present state in the cluster.
    #[serde(default, skip_serializing_if = "is_false")]
    pub live: bool,
}

/// `from` is applied after `to`. Both are indices of nodes: names are unique within one template only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GraphEdge {
    /// The node that waits.
    pub from: usize,
    /// The node that it waits for.
    pub to: usize,
    /// Why it waits.
    pub because: EdgeReason,
    /// What makes it wait: the reference, or the field of its object that names the other.
    pub detail: String,
}

/// `GET /operations/{o}/events`: server-sent events, with the name of each in `event:` and its document in `data:`.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationEvent {
    /// The operation has changed. The last event has its end.
    Operation(Operation),
    /// The state of a resource has changed.
    Resource(ResourceReport),
}

impl OperationEvent {
    /// The names in `event:`.
    pub const OPERATION: &'static str = "operation";
    /// The data is a [`ResourceReport`], in `GET /events` an [`OperationReport`].
    pub const RESOURCE: &'static str = "resource";
    /// Only in `GET /events`, with an [`OperationRefusal`].
    pub const REFUSED: &'static str = "refused";
}

/// The query of `GET /events`: the operations, or the deployment whose operations are followed one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperationEventsQuery {
    /// Up to 50 ids, with commas between them. The stream ends when all of them are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(,[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?){0,49}$"))]
    pub operations: Option<String>,
    /// The stream starts with the last operation, and goes on with later ones. It has no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentName>,
}

/// The data of `event: resource` in `GET /events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OperationReport {
    /// The operation that the report is of.
    pub operation: OperationId,
    /// As in the stream of one operation.
    pub report: ResourceReport,
}

/// The data of `event: refused` in `GET /events`: the stream has no events of this operation, or none any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OperationRefusal {
    /// The id, as the query has it.
    pub operation: OperationId,
    /// Why: the operation is unknown, or the caller may not see its deployment.
    pub error: ErrorBody,
}

/// `GET /deployments/{d}/manifests/{m}/diff?from=OTHER`: the changes from one manifest to another.
///
/// Of a secret value it reports only that it differs, and neither the old nor the new value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDiff {
    /// The manifest in the query.
    pub from: ManifestName,
    /// The manifest in the path.
    pub to: ManifestName,
    /// Whether the two requests had the same configuration with the same files.
    pub same_input: bool,
    /// How many resources have each action.
    pub summary: DiffSummary,
    /// In the order of the second manifest, then those that only the first one has.
    pub resources: Vec<ResourceDiff>,
}

/// An item of `GET /registries`, and the answer of `GET /registries/{r}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RegistrySummary {
    /// Its references start with it: `NAME/redis:v1`.
    pub name: String,
    /// All fields of the definition.
    #[serde(flatten)]
    pub definition: RegistryDefinition,
}

/// `GET /credentials/{c}`, and an item of `GET /credentials`. The secret itself is never returned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialSummary {
    /// Registries and clusters name it.
    pub name: CredentialName,
    /// Which kind of secret it holds.
    #[serde(rename = "type")]
    pub credential_type: CredentialType,
    /// Only for the type `basic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// When the credential was first set.
    pub created_at: jiff::Timestamp,
    /// When its secret was last set.
    pub modified_at: jiff::Timestamp,
}

/// An item of `GET /registries/{r}/types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TemplateSummary {
    /// The name of the template, with its collection if that has a name.
    pub name: String,
    /// All versions, lowest first.
    pub versions: Vec<String>,
}

/// `POST /registries/{r}/refresh`: what the registry has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RefreshedRegistry {
    /// The registry in the path.
    pub name: String,
    /// The number of templates.
    pub templates: usize,
    /// The number of versions of all templates.
    pub versions: usize,
}

/// `GET /types/{t}/metadata` and `GET /registries/{r}/types/{t}`: the description of a template and its properties.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TemplateDescription {
    /// The version, the URL and the digest of the template.
    #[serde(flatten)]
    pub resolved: ResolvedType,
    /// `info.title` of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// `info.description` of the schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The text of the template's schema. Absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Its `example.yaml`, with short references written in full, so that it can be deployed unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// `GET /whoami`: the caller, as authentication identified it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Whoami {
    /// `anonymous` without authentication.
    pub user: String,
    /// As authentication found them. Empty for `anonymous`.
    #[serde(default)]
    pub groups: Vec<String>,
    /// With `namespace`: what the caller may do there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may: Option<NamespacePermissions>,
}

/// The query of `GET /whoami`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhoamiQuery {
    /// The answer also says what the caller may do in this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}

/// What the caller may do in a namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NamespacePermissions {
    /// Creating deployments, and previewing new ones.
    pub create: Permission,
}
