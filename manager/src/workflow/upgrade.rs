//! An upgrade of one template in an existing deployment: where it is used, and the configuration that names the new
//! version.

use std::collections::BTreeSet;

use common::api::error::{ErrorBody, ErrorCode};
use common::api::upgrade::TemplateUse;
use common::model::{DeploymentName, InputConfig, ResolvedType, TypeName};
use common::work;

use super::expansion::Expansions;
use super::expansion::choice::Instead;
use crate::domain::uses::{self, References};
use crate::store::manifests::Head;
use crate::store::{Store, StoreError, manifests};

/// The template, at the version to upgrade to.
#[derive(Debug, Clone)]
pub struct UpgradeTarget {
    reference: TypeName,
    /// The version that the reference resolves to now.
    pub resolved: ResolvedType,
    instead: Instead,
}

/// A deployment that uses the template, with its latest manifest.
#[derive(Debug)]
pub struct Dependent {
    pub input: InputConfig,
    pub uses: Vec<TemplateUse>,
    references: References,
    resolved: Vec<ResolvedType>,
}

impl Dependent {
    /// Names the new version in an error of its expansion: its files were expanded under the references of now.
    pub fn rename(&self, error: &mut ErrorBody) {
        uses::rename(&self.references, error);
    }
}

impl UpgradeTarget {
    pub async fn find(
        expansions: &Expansions,
        reference: &TypeName,
    ) -> Result<Self, Box<ErrorBody>> {
        let (instead, resolved) = expansions.instead(reference).await?;
        Ok(Self {
            reference: reference.clone(),
            resolved,
            instead,
        })
    }

    /// Replaces the template everywhere, or only where references name the version, which is what an upgrade writes.
    pub fn instead(&self, everywhere: bool) -> Instead {
        Instead {
            everywhere,
            ..self.instead.clone()
        }
    }

    /// Those types that are references to the template, each with its new reference.
    pub async fn references(
        &self,
        expansions: &Expansions,
        types: impl IntoIterator<Item = &TypeName>,
    ) -> References {
        let version = self.reference.as_str().rsplit(':').next();
        let mut found = References::new();
        for reference in types.into_iter().collect::<BTreeSet<_>>() {
            let to = version.and_then(|version| uses::at_version(reference, version));
            if let Some(to) = to
                && expansions.names(reference, &self.instead.template).await
            {
                found.insert(reference.clone(), to);
            }
        }
        found
    }

    /// The uses of the template in a manifest.
    pub async fn dependent(
        &self,
        store: &Store,
        expansions: &Expansions,
        head: Head,
    ) -> Result<Dependent, StoreError> {
        let types = head
            .resolved_types
            .iter()
            .map(|resolved| &resolved.type_name);
        let references = self.references(expansions, types).await;
        let input = manifests::input(store, &head.deployment, &head.name).await?;
        let layout = manifests::layout(store, &head.deployment, &head.name).await?;
        let resolved = head.resolved_types;
        let found = move || Dependent {
            uses: uses::of_layout(&layout, &resolved, &input, &references),
            input,
            references,
            resolved,
        };
        Ok(work::large(found).await)
    }

    /// Whether every use already has this reference and resolves to this version.
    pub fn is_current(&self, dependent: &Dependent) -> bool {
        let resolved = |reference: &TypeName| {
            let found = dependent
                .resolved
                .iter()
                .find(|r| r.type_name == *reference);
            found.is_some_and(|found| {
                (&found.version, &found.sha256) == (&self.resolved.version, &self.resolved.sha256)
            })
        };
        dependent
            .uses
            .iter()
            .all(|used| used.type_name == used.to && resolved(&used.type_name))
    }

    /// The configuration with the new version, or the reason why it cannot be rewritten.
    pub async fn rewritten(
        self,
        deployment: DeploymentName,
        dependent: Dependent,
    ) -> Result<InputConfig, Box<ErrorBody>> {
        work::large(move || self.rewritten_now(&deployment, &dependent)).await
    }

    fn rewritten_now(
        &self,
        deployment: &DeploymentName,
        dependent: &Dependent,
    ) -> Result<InputConfig, Box<ErrorBody>> {
        let refused = |message: String| {
            let body = ErrorBody::new(ErrorCode::InvalidRequest, message);
            Err(Box::new(body))
        };
        let Some(first) = dependent.uses.first() else {
            return refused(unused(deployment, &self.reference));
        };
        if dependent.uses.iter().all(|used| used.owner.is_some()) {
            let owner = first
                .owner
                .as_ref()
                .map(TypeName::as_str)
                .unwrap_or_default();
            return refused(format!(
                "deployment '{deployment}' uses {} only within {owner}: the owner of that template must name the new version there",
                first.type_name
            ));
        }
        uses::rewritten(&dependent.input, &dependent.references).or_else(|error| {
            refused(format!(
                "the configuration of deployment '{deployment}' cannot name {}: {error}; change it there, and update",
                self.reference
            ))
        })
    }
}

pub fn unused(deployment: &DeploymentName, template: &TypeName) -> String {
    format!("deployment '{deployment}' does not use the template of {template}, at any version")
}
