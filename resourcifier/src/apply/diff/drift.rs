//! Where a live object differs from what its deployment asks for, in the fields that are the deployment's.
//!
//! What others added is no drift, nor what an admission changes each time: the live object is compared with what the API server
//! would make of it, and that goes through the same admission. Most objects need no such dry run: they hold all that
//! is asked for as it was written.

use std::time::Duration;

use common::api::deployer::FieldChange;
use common::model::{ConflictPolicy, DeploymentName};
use serde_json::Value;

use super::unknown;
use crate::apply::context::secrets::Secrets;
use crate::apply::object::compare::{self, Difference};
use crate::apply::object::{acquired, ownership, unchanged};
use crate::apply::write::conflicts::{self, How};
use crate::kubectl::{ClusterApi, KubectlError, Precondition};
use crate::plan::{self, Node, Path};

/// Looks for drift of one deployment.
#[derive(Clone, Copy)]
pub struct Drift<'a> {
    pub kubectl: &'a dyn ClusterApi,
    pub deployment: &'a DeploymentName,
    /// For each call.
    pub within: Duration,
    /// The secret values to redact.
    pub secrets: &'a Secrets,
}

impl Drift<'_> {
    /// The fields that differ: as they are, and as they are asked for. `live_of` knows the objects that others refer to.
    pub async fn of<'v>(
        &self,
        node: &Node,
        live: &'v Value,
        live_of: &impl Fn(usize) -> Option<&'v Value>,
    ) -> Result<Vec<FieldChange>, KubectlError> {
        let lookup = |text: &str| {
            let mut references = node.references.iter();
            let reference = references.find(|reference| reference.text == text)?;
            let target = live_of(reference.target)?;
            let value = reference.path.find(target).cloned();
            // Where a value of a Secret is asked for, the field is not compared.
            value.filter(|_| !reference.is_secret)
        };
        for reference in &node.references {
            if let Some(target) = live_of(reference.target) {
                self.secrets.learn(reference, target);
            }
        }
        let unknown::Known {
            object: asked,
            unknown,
        } = unknown::fill(&node.template, Some(live), &lookup);
        let asked = acquired::carried(&asked, Some(live));
        self.secrets.learn_former(node, live, &unknown);
        let manager = plan::field_manager(self.deployment);
        if unchanged::is_unchanged(&asked, live, &manager) {
            return Ok(Vec::new());
        }
        let policy = match node.metadata.conflict_policy {
            ConflictPolicy::Yield => ConflictPolicy::Yield,
            ConflictPolicy::Fail | ConflictPolicy::Take => ConflictPolicy::Take,
        };
        let how = How {
            manager: &manager,
            policy,
            dry_run: true,
            precondition: Precondition::None,
            secrets: self.secrets,
        };
        let applied = conflicts::apply(self.kubectl, &asked, how, self.within).await?;
        let mut differences = compare::differences(Some(live), Some(&applied.live));
        let mut owned = owned(live, &applied.live, &manager);
        owned.extend(written(&asked));
        differences.retain(|difference| is_owned(difference, &owned));
        Ok(compare::field_changes(differences, &asked))
    }
}

/// The places that are the deployment's, before or after.
fn owned(live: &Value, result: &Value, manager: &str) -> Vec<Path> {
    let fields = [live, result].map(|object| ownership::applied_by(object, manager));
    fields
        .into_iter()
        .flatten()
        .map(|field| field.path)
        .collect()
}

/// What the API server keeps elsewhere than it was written: the `stringData` of a Secret becomes `data`, and nobody's.
fn written(asked: &Value) -> Vec<Path> {
    let values = asked["stringData"].as_object();
    let values = values.filter(|_| asked["kind"] == "Secret");
    let place = |key: &String| Path::default().key("data").key(key);
    values
        .into_iter()
        .flatten()
        .map(|(key, _)| place(key))
        .collect()
}

fn is_owned(difference: &Difference, owned: &[Path]) -> bool {
    let place = &difference.path;
    owned
        .iter()
        .any(|path| path.holds(place) || place.holds(path))
}
