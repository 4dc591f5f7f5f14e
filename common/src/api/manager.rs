//! What the manager is asked and answers, apart from the nouns of [`crate::model`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::deployer::{EdgeReason, ObjectStatus, Policies, ResourceDiff, ResourceReport};
use crate::model::limits::{DESCRIPTION_CHARS, LABELS, OPERATION_MS};
use crate::model::{
    ConflictPolicy, CreatePolicy, CredentialName, CredentialType, DeletePolicy, DeploymentName,
    DiffSummary, DriftPolicy, Import, LayoutPath, ManifestName, Namespace, ObjectRef, Operation,
    RegistryDefinition, ResolvedType, ResourceName, SecretValue, ServiceAccountName, TypeName,
    UpdatePolicy,
};

/// The header that makes a write safe to repeat: the same key with the same request is the same operation, for a day.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// The header `Idempotent-Replayed: true` of an answer to a request that came before with its idempotency key. The answer
/// is the recorded one: what it describes may have changed since, or may be deleted.
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
    pub name: DeploymentName,
    /// The configuration's YAML text.
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
    /// Where namespaced objects go that name no namespace; `default` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("maxLength" = DESCRIPTION_CHARS))]
    pub description: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Labels")]
    pub labels: BTreeMap<String, String>,
    /// What is done about drift that a scheduled check finds.
    #[serde(default)]
    pub drift_policy: DriftPolicy,
    /// The service account of the namespace that all of it is applied as. The caller needs the permission to impersonate
    /// it. Absent: it is applied as the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_account: Option<ServiceAccountName>,
}

/// `PUT /deployments/{d}`: a whole new configuration, or the preview to commit. What is absent of the rest stays as it is.
///
/// Also the body of `POST /deployments/{d}/diff`, where `manifest` may be any manifest of the deployment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["content"], "properties": {"content": {"type": "string"}, "manifest": {"type": "null"}}},
    {"required": ["manifest"], "properties": {"manifest": {"type": "string"}, "content": {"type": "null"}, "imports": {"maxItems": 0}}},
]))]
pub struct UpdateDeployment {
    /// The new configuration's YAML text: this or `manifest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<Import>,
    /// The deployment's preview: it is applied exactly as it was previewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<ManifestName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxLength" = DESCRIPTION_CHARS))]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Labels>")]
    pub labels: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_policy: Option<DriftPolicy>,
    /// As in a create; `null`: no longer one.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[schemars(with = "Option<ServiceAccountName>")]
    pub service_account: Option<Option<ServiceAccountName>>,
}

/// Tells what is `null` from what is absent.
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
    pub manifest: ManifestName,
}

/// The query of every write. What is not known is refused: a misspelt wish must not become a change of the cluster.
/// So is a wish that the write cannot fulfil, such as the preview of a delete.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteQuery {
    /// Time for the whole operation, in milliseconds; the manager's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = OPERATION_MS))]
    pub timeout_ms: Option<u64>,
    /// Stores what would happen and applies nothing. For creates and updates.
    #[serde(default, skip_serializing_if = "is_false")]
    pub preview: bool,
    /// Of an update or a rollback: that it may delete more than half of the deployment's objects. Of any write that deletes a
    /// namespace: that the objects of others in it go with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub allow_deletes: bool,
    /// A create or an update that fails while it is applied is undone: the deployment goes back to the manifest that
    /// was deployed last, or is removed if there is none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rollback_on_failure: bool,
    /// Of an update: template references mean the very files that they meant for the latest manifest. One that it does
    /// not have on record is refused.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
    #[serde(flatten)]
    pub policies: PolicyQuery,
}

/// The policies of a whole request: each overrides that of every resource. A commit has those of its preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyQuery {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_policy: Option<CreatePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_policy: Option<UpdatePolicy>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_policy: Option<ConflictPolicy>,
    /// The only policy that a `DELETE` has.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = OPERATION_MS))]
    pub timeout_ms: Option<u64>,
    /// Of a deployment that does not exist yet; one that exists has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// As an update with `locked` would.
    #[serde(default, skip_serializing_if = "is_false")]
    pub locked: bool,
    #[serde(flatten)]
    pub policies: PolicyQuery,
}

/// What `POST /deployments/{d}/diff` answers: what an update would do now. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub summary: DiffSummary,
    /// Every desired resource in its order, then what would be pruned.
    pub resources: Vec<ResourceDiff>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// `POST /expand`: as a create would, without storing or applying anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expand {
    /// The deployment's name that templates see.
    pub name: DeploymentName,
    pub content: String,
    #[serde(default)]
    pub imports: Vec<Import>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}

/// What `POST /expand` answers: the parts of a manifest that an expansion makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    pub expanded_config: crate::model::Configuration,
    pub layout: crate::model::Layout,
    #[serde(default)]
    pub resolved_types: Vec<ResolvedType>,
    #[serde(default)]
    pub outputs: Vec<crate::model::Output>,
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Of each template instance of the configuration itself that has outputs, their names and kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instance_outputs: Vec<crate::model::InstanceOutputs>,
    /// What of it is secret: the manager's own, in none of its answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(skip)]
    pub secrets: Vec<SecretValue>,
}

/// An item of `GET /deployments/{d}/manifests`: the contents are one request further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestSummary {
    pub name: ManifestName,
    pub deployment: DeploymentName,
    pub created_at: jiff::Timestamp,
}

/// An item of `GET /types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TypeSummary {
    pub name: TypeName,
    /// How many instances there are in active deployments.
    pub instances: u64,
}

/// An item of `GET /types/{t}/instances`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TypeInstance {
    pub name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    pub deployment: DeploymentName,
    pub manifest: ManifestName,
    /// Where it stands in the manifest's layout.
    pub path: LayoutPath,
}

/// The query of `GET /deployments/{d}/resources`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResourcesQuery {
    /// Of more than the most (5,000), the most is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// `false`: drift is not looked for, which takes a dry run of each object that is not as it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<bool>,
}

/// `GET /deployments/{d}/resources`.
pub type Resources = super::page::Page<LiveResource>;

/// One recorded object as it is in the cluster, and what was asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveResource {
    #[serde(flatten)]
    pub status: ObjectStatus,
    /// Whether its state is `READY`.
    #[serde(default)]
    pub ready: bool,
    /// Its properties with their references replaced, as they were applied; absent where there were no references, and
    /// of Secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_properties: Option<Value>,
}

/// `GET /deployments/{d}/graph`: which resources of the latest manifest wait for which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Graph {
    /// Every primitive, in the manifest's order.
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GraphNode {
    pub name: ResourceName,
    #[serde(rename = "type")]
    pub type_name: TypeName,
    pub object: ObjectRef,
}

/// `from` is applied once `to` is there. Both are indices of nodes: names are unique within one template only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GraphEdge {
    pub from: usize,
    pub to: usize,
    pub because: EdgeReason,
    /// What makes it wait: the reference, or the place in its object that names the other.
    pub detail: String,
}

/// `GET /operations/{o}/events`: server-sent events, the name of each in `event:`, its document in `data:`.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationEvent {
    /// The operation changed; the last event has its end.
    Operation(Operation),
    /// A resource got somewhere.
    Resource(ResourceReport),
}

impl OperationEvent {
    /// The names in `event:`.
    pub const OPERATION: &'static str = "operation";
    pub const RESOURCE: &'static str = "resource";
}

/// `GET /deployments/{d}/manifests/{m}/diff?from=OTHER`: what going from one manifest to the other asks for.
///
/// Of what is secret it says that it differs, and neither what it was nor what it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ManifestDiff {
    pub from: ManifestName,
    pub to: ManifestName,
    /// Whether the configurations that were sent are the same, with all their files.
    pub same_input: bool,
    pub summary: DiffSummary,
    /// As the second manifest has them, then those that only the first has.
    pub resources: Vec<ResourceDiff>,
}

/// An item of `GET /registries`, and `GET /registries/{r}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct RegistrySummary {
    pub name: String,
    #[serde(flatten)]
    pub definition: RegistryDefinition,
}

/// `GET /credentials/{c}`, and an item of `GET /credentials`. The secret itself is never given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CredentialSummary {
    pub name: CredentialName,
    #[serde(rename = "type")]
    pub credential_type: CredentialType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    pub created_at: jiff::Timestamp,
    /// When its secret was set last.
    pub modified_at: jiff::Timestamp,
}

/// An item of `GET /registries/{r}/types`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TemplateSummary {
    /// The template's name, with its collection if it is in a named one.
    pub name: String,
    /// All versions, lowest first.
    pub versions: Vec<String>,
}

/// `GET /types/{t}/metadata` and `GET /registries/{r}/types/{t}`: what a template is and takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TemplateDescription {
    #[serde(flatten)]
    pub resolved: ResolvedType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The template's schema, as it is written; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Its `example.yaml`, with references that are short in its registry written in full, so that it can be deployed as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// `GET /whoami`: the caller, as authentication identified it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Whoami {
    /// `anonymous` without authentication.
    pub user: String,
    #[serde(default)]
    pub groups: Vec<String>,
}
