//! Leaves an object in the cluster, and gives up all that says that it is a deployment's: the marks, and the field manager's
//! entries. The values stay, unless it is to get back what was taken from it. Another deployment, or kubectl, can then change
//! the fields without a conflict.

use common::model::{DeletePolicy, DeploymentName, ObjectRef};
use serde_json::{Map, Value, json};

use crate::apply::context::{Context, race};
use crate::apply::definitions::shared;
use crate::apply::object::acquired::{Taken, merge_patch};
use crate::apply::object::change;
use crate::apply::object::claim::{self, Standing};
use crate::kubectl::{KubectlError, PatchOptions};
use crate::plan;

/// What became of an object that was to be abandoned.
#[derive(Debug, Clone, PartialEq)]
pub enum Abandoned {
    Done,
    /// It was there before the deployment, and has its former values again.
    Restored,
    /// It was there before the deployment, but what was taken from it is not known.
    NotRestored,
    Missing,
    /// It is not the deployment's any more, and nothing was written.
    NotOurs,
    /// Nobody else shares it since then, so it is to go. Nothing was written.
    Last(Box<Value>),
}

/// One object on its way out of a deployment.
pub struct Leaving<'a> {
    pub object: &'a ObjectRef,
    /// The UID on record.
    pub recorded: Option<&'a str>,
    /// Whether it gets back what was taken from it.
    pub restore: bool,
    /// Overrides the policy of the object.
    pub policy: Option<DeletePolicy>,
}

impl Leaving<'_> {
    /// Abandons the object if it is the deployment's.
    pub async fn abandon(self, context: Context<'_>) -> Result<Abandoned, KubectlError> {
        race::repeated(async || self.once(context).await).await
    }

    async fn once(&self, context: Context<'_>) -> Result<Abandoned, KubectlError> {
        let within = context.deadline.call();
        let Some(live) = context.kubectl.get(self.object, within).await? else {
            return Ok(Abandoned::Missing);
        };
        let standing = claim::standing(Some(&live), context.deployment, self.recorded);
        if standing != Standing::Ours {
            return Ok(Abandoned::NotOurs);
        }
        if shared::is_shared(&live) && change::owner(&live).is_none() {
            if shared::may_go(&live, self.policy, context.deployment) {
                return Ok(Abandoned::Last(Box::new(live)));
            }
            let patch = shared::patch(context.deployment, false);
            return self.patch(context, &live, &patch, Abandoned::Done).await;
        }
        let taken = Taken::read(&live).filter(|_| self.restore);
        let Some(taken) = taken else {
            let patch = without_us(&live, context.deployment, &Taken::default());
            return self.patch(context, &live, &patch, Abandoned::Done).await;
        };
        // First the values, then the marks: what a crash leaves in between is found and done again.
        let restored = taken.given_back(&live, context.deployment);
        if let Some(values) = merge_patch(&live, &restored) {
            match self.patch_of(context, &live, &values).await? {
                None => return Ok(Abandoned::Missing),
                Some(live) => {
                    let patch = without_us(&live, context.deployment, &taken);
                    return self
                        .patch(context, &live, &patch, restored_as(&taken))
                        .await;
                }
            }
        }
        let patch = without_us(&live, context.deployment, &taken);
        self.patch(context, &live, &patch, restored_as(&taken))
            .await
    }

    async fn patch(
        &self,
        context: Context<'_>,
        live: &Value,
        patch: &Value,
        done: Abandoned,
    ) -> Result<Abandoned, KubectlError> {
        let after = self.patch_of(context, live, patch).await?;
        Ok(after.map_or(Abandoned::Missing, |_| done))
    }

    async fn patch_of(
        &self,
        context: Context<'_>,
        live: &Value,
        patch: &Value,
    ) -> Result<Option<Value>, KubectlError> {
        let options = PatchOptions {
            manager: plan::MANAGER,
            precondition: claim::precondition(Some(live)),
        };
        let within = context.deadline.call();
        let kubectl = context.kubectl;
        kubectl.patch(self.object, patch, options, within).await
    }
}

fn restored_as(taken: &Taken) -> Abandoned {
    match taken.is_known() {
        true => Abandoned::Restored,
        false => Abandoned::NotRestored,
    }
}

/// The merge patch that takes the marks and our field manager's entries off, and gives fields back to their former managers.
fn without_us(live: &Value, deployment: &DeploymentName, taken: &Taken) -> Value {
    let mut labels = removals(&[plan::DEPLOYMENT]);
    // A user's own value of the recommended label is never touched.
    if change::is_labelled_by_us(live) {
        labels.insert(plan::MANAGED_BY.to_owned(), Value::Null);
    }
    let shared_by = plan::shared_by(deployment);
    let annotations = removals(&[
        plan::RESOURCE,
        plan::DELETE_POLICY,
        plan::WAVE,
        plan::ACQUIRED,
        &shared_by,
    ]);
    let others = others_entries(live, &plan::field_manager(deployment));
    let managed = or_nothing(taken.returned_to_owners(others), live);
    json!({"metadata": {"labels": labels, "annotations": annotations, "managedFields": managed}})
}

/// `null` removes, in a merge patch.
fn removals(keys: &[&str]) -> Map<String, Value> {
    let nulls = keys.iter().map(|key| ((*key).to_owned(), Value::Null));
    nulls.collect()
}

/// The entries of all other field managers. [`plan::MANAGER`] has only what was just given back.
fn others_entries(live: &Value, manager: &str) -> Vec<Value> {
    let entries = live["metadata"]["managedFields"].as_array();
    let others = entries.into_iter().flatten();
    others
        .filter(|entry| entry["manager"] != manager && entry["manager"] != plan::MANAGER)
        .cloned()
        .collect()
}

/// Never no entries. The API server passes an empty list over, and of an object without entries it says that
/// `before-first-apply` owns all fields: the next apply of another value would be a conflict. An entry with a field that no
/// object has owns nothing.
fn or_nothing(mut entries: Vec<Value>, live: &Value) -> Vec<Value> {
    if entries.is_empty() {
        let nothing = format!("f:{}abandoned", plan::PREFIX);
        entries.push(json!({
            "manager": plan::MANAGER, "operation": "Update", "apiVersion": live["apiVersion"],
            "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {nothing: {}}}},
        }));
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(managers: &[&str]) -> Vec<String> {
        let entry = |manager: &&str| json!({"manager": manager, "fieldsV1": {"f:data": {}}});
        let managed: Vec<Value> = managers.iter().map(entry).collect();
        let live = json!({"apiVersion": "v1", "metadata": {"managedFields": managed}});
        let left = or_nothing(others_entries(&live, "dm-web"), &live);
        let manager = |entry: &Value| entry["manager"].as_str().unwrap().to_owned();
        left.iter().map(manager).collect()
    }

    #[test]
    fn the_entries_of_others_stay_and_there_is_always_one() {
        assert_eq!(entries(&["dm-web"]), ["deployment-manager"]);
        assert_eq!(entries(&["dm-web", "kubectl", "dm-web"]), ["kubectl"]);
        assert_eq!(entries(&["dm-other"]), ["dm-other"]);
    }

    #[test]
    fn a_value_of_the_recommended_label_that_is_not_ours_stays() {
        let web = DeploymentName::parse("web").unwrap();
        let live = |value: &str| json!({"metadata": {"labels": {plan::MANAGED_BY: value}}});
        let labels = |value: &str| {
            let patch = without_us(&live(value), &web, &Taken::default());
            patch["metadata"]["labels"].clone()
        };
        assert_eq!(labels("Helm"), json!({plan::DEPLOYMENT: null}));
        let both = json!({plan::DEPLOYMENT: null, plan::MANAGED_BY: null});
        assert_eq!(labels(plan::MANAGER), both);
    }
}
