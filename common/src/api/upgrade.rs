//! New versions of templates in existing deployments: what a version would change, and the upgrade to it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deployer::ResourceDiff;
use super::error::ErrorBody;
use super::manager::Permission;
use crate::model::{DeploymentName, DiffSummary, LayoutPath, ResolvedType, TypeName};

/// A reference with a version, in the schemas of the API.
const VERSIONED: &str = ".:.";

/// `POST /templates/whatif`: what deployments would become with another version of a template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIf {
    /// A reference to the template with its new version: `redis:v1.1`.
    #[schemars(extend("pattern" = VERSIONED))]
    pub template: TypeName,
    /// Only these deployments, which must use the template. Empty: all that use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deployments: Vec<DeploymentName>,
    /// Only deployments that have all of these labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// The query of `POST /templates/whatif`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIfQuery {
    /// How many deployments. Default: 100. A limit above 1,000 counts as 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// The `nextPageToken` of the previous page. The request must be the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// Return the resources that differ, field by field, and not only their number.
    #[serde(default)]
    pub full: bool,
}

/// A page of the answer, in the order of deployment names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfPage {
    /// What the reference resolves to now.
    pub template: ResolvedType,
    /// One for each deployment that uses the template.
    pub items: Vec<WhatIfItem>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

/// What one deployment would become. Nothing is stored, and the cluster is not asked: the result is compared with the
/// latest manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfItem {
    /// The deployment that would be upgraded.
    pub deployment: DeploymentName,
    /// What an upgrade would come to.
    pub outcome: WhatIfOutcome,
    /// Where it uses the template, in the order of its layout.
    pub uses: Vec<TemplateUse>,
    /// How many resources would be added, changed and removed.
    #[serde(default)]
    pub summary: DiffSummary,
    /// The resources that would differ, if the request asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceDiff>,
    /// Why it cannot be expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// As the authorization of the manager decides now.
    pub may: UpgradePermissions,
}

/// What the caller may do with a deployment that uses the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradePermissions {
    /// Upgrading it to the version.
    pub upgrade: Permission,
}

impl WhatIfItem {
    /// Whether an upgrade of the deployment would change any of its references.
    pub fn is_in_reach(&self) -> bool {
        self.uses.iter().any(|used| used.owner.is_none())
    }
}

/// What an upgrade of one deployment would come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WhatIfOutcome {
    /// It already uses this version.
    Current,
    /// Its configuration already names this version, and its last operation failed. An upgrade applies it again.
    Unfinished,
    /// The new version gives the same resources.
    Unchanged,
    /// The new version gives other resources.
    Changed,
    /// It cannot be expanded with the new version.
    Failing,
}

/// One use of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateUse {
    /// The reference, as the configuration or template writes it.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// What it resolved to in the latest manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its path in the layout of the latest manifest.
    pub path: LayoutPath,
    /// The reference that an upgrade would write instead.
    pub to: TypeName,
    /// The template that has this reference, if an upgrade cannot rewrite it: the owner of that template must name the
    /// new version. Absent if an upgrade can rewrite the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<TypeName>,
}

/// `POST /deployments/{d}/upgrade`: an update with the same configuration, in which references to the template name its
/// new version. All other references keep the files of the latest manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpgradeDeployment {
    /// A reference to the template with its new version: `redis:v1.1`.
    #[schemars(extend("pattern" = VERSIONED))]
    pub template: TypeName,
}
