//! New versions of templates in deployments that exist: what one would change, and taking it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::deployer::ResourceDiff;
use super::error::ErrorBody;
use crate::model::{DeploymentName, DiffSummary, LayoutPath, ResolvedType, TypeName};

/// `POST /templates/whatif`: what deployments would be with a template at another version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhatIf {
    /// The template at the version to look at, as a reference: `redis:v1.1`.
    pub template: TypeName,
    /// Only these, which must use the template; all that do, if it is empty.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
    /// Tell the resources that differ, field by field, and not only how many.
    #[serde(default)]
    pub full: bool,
}

/// A page of the answer, by deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfPage {
    /// What the reference resolves to now.
    pub template: ResolvedType,
    pub items: Vec<WhatIfItem>,
    /// Absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
}

/// What would become of one deployment. Nothing is stored, and the cluster is not asked: what it is compared with is the
/// latest manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhatIfItem {
    pub deployment: DeploymentName,
    pub outcome: WhatIfOutcome,
    /// Where it uses the template, in the order of its layout.
    pub uses: Vec<TemplateUse>,
    /// How many resources would come, change and go.
    #[serde(default)]
    pub summary: DiffSummary,
    /// Those that would; only if that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceDiff>,
    /// Why it cannot be expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

impl WhatIfItem {
    /// Whether an upgrade of the deployment would change any of its references.
    pub fn is_in_reach(&self) -> bool {
        self.uses.iter().any(|used| used.owner.is_none())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WhatIfOutcome {
    /// It uses this very version already.
    Current,
    /// Its configuration names this very version already, and its last operation failed: an upgrade applies it again.
    Unfinished,
    /// The new version makes the same of it.
    Unchanged,
    Changed,
    /// It cannot be expanded with the new version.
    Failing,
}

/// One use of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateUse {
    /// The reference, as it stands there.
    #[serde(rename = "type")]
    pub type_name: TypeName,
    /// What the latest manifest resolved it to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// In the layout of the latest manifest.
    pub path: LayoutPath,
    /// The reference that an upgrade would write in its place.
    pub to: TypeName,
    /// The template that an upgrade cannot rewrite, and whose owner has to name the new version in it; absent where an
    /// upgrade can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<TypeName>,
}

/// `POST /deployments/{d}/upgrade`: an update with the same configuration, in which references to the template name its
/// new version. All other references mean what they meant for the latest manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpgradeDeployment {
    /// The template at its new version, as a reference: `redis:v1.1`.
    pub template: TypeName,
}
