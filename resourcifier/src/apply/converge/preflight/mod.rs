//! Before the first write, the API server tries every object whose values are known: dry runs, many at once. Of new objects
//! that it judges alike, it tries one.
//!
//! A typing error in one of many objects then refuses the whole, before anything is touched. Left to the apply is what a dry
//! run cannot know: references without values, kinds and namespaces that the plan itself makes, and permissions that it grants.

mod alike;

use std::collections::{BTreeMap, HashMap};

use common::api::deployer::EdgeReason;
use common::api::error::{ErrorBody, ErrorCode};
use futures::StreamExt;

use super::phase::Pending;
use super::{Run, special};
use crate::apply::context::Stopped;
use crate::apply::fetch::AT_ONCE;
use crate::apply::object::change;
use crate::apply::object::fault::fault;
use crate::apply::write::conflicts::{self, How};
use crate::kubectl::{KubectlError, ObjectFault, Precondition};

/// Resources that the cause of several names.
const NAMED: usize = 5;
/// What a webhook without dry runs answers to one. It says nothing of the object.
const NO_DRY_RUN: &str = "does not support dry run";

impl Run<'_> {
    /// # Errors
    /// What the API server has against the objects; equal refusals are one cause.
    pub(super) async fn preflight(&self) -> Result<(), Stopped> {
        self.context.gate.check()?;
        let indices: Vec<usize> = (0..self.works.len())
            .filter(|&index| self.can_be_tried(index))
            .collect();
        let tried = indices.len();
        let refused = self.refusals(indices).await;
        match refused.len() {
            0 => Ok(()),
            count => {
                let message = format!(
                    "the API server refuses {count} of {tried} objects in a dry run, so nothing was changed"
                );
                let error = ErrorBody::new(ErrorCode::ResourcesFailed, message);
                Err(error.caused_by(self.grouped(refused)).into())
            }
        }
    }

    /// Only a success counts for all that are alike. After an error the others are tried each: their names may be what
    /// decides, and the error may say nothing of the object.
    async fn refusals(&self, indices: Vec<usize>) -> Vec<(usize, KubectlError)> {
        let mut classes = self.classes(indices).await;
        let mut failed = self.failures(classes.keys().copied()).await;
        let others = failed.iter().filter_map(|(first, _)| classes.remove(first));
        let others: Vec<usize> = others.flatten().collect();
        failed.extend(self.failures(others.into_iter()).await);
        failed.retain(|(index, error)| self.is_definite(*index, error));
        failed.sort_unstable_by_key(|(index, _)| *index);
        failed
    }

    /// The objects to try, each with those that are like it.
    async fn classes(&self, indices: Vec<usize>) -> BTreeMap<usize, Vec<usize>> {
        let mut firsts: HashMap<String, usize> = HashMap::new();
        let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in indices {
            let shape = self.shape(index);
            let first = shape.map_or(index, |shape| *firsts.entry(shape).or_insert(index));
            let others = classes.entry(first).or_default();
            if first != index {
                others.push(index);
            }
            // The work for one object is bounded. Others have their turn before the next.
            tokio::task::yield_now().await;
        }
        classes
    }

    /// What the object has in common with others. One that exists is compared with what it is now, so it is like no other.
    fn shape(&self, index: usize) -> Option<String> {
        let work = &self.works[index];
        let is_new = work.before().is_none() && !work.node.metadata.is_shared();
        is_new.then(|| alike::shape(&work.node.template)).flatten()
    }

    async fn failures(&self, indices: impl Iterator<Item = usize>) -> Vec<(usize, KubectlError)> {
        let tries: Vec<_> = indices.map(|index| self.dry_run(index)).collect();
        futures::stream::iter(tries)
            .buffer_unordered(AT_ONCE)
            .filter_map(std::future::ready)
            .collect()
            .await
    }

    fn can_be_tried(&self, index: usize) -> bool {
        let work = &self.works[index];
        let (node, catalog) = (&work.node, self.context.catalog);
        let is_new_or_ours = !work.pending().is_some_and(Pending::was_there);
        let is_in_peace = !work.before().is_some_and(change::is_terminating);
        let hosts = node.dependencies.iter();
        let mut hosts = hosts.filter(|dependency| dependency.because == EdgeReason::Host);
        let is_special = node.run.is_some() || node.metadata.is_shared();
        let is_left_alone = is_special && work.before().is_some();
        !work.is_unchanged()
            && !is_left_alone
            && is_new_or_ours
            && is_in_peace
            && node.references.is_empty()
            && catalog.current(&node.object).is_some()
            && !self.may_be_granted(index)
            && hosts.all(|host| self.works[host.on].before().is_some())
    }

    async fn dry_run(&self, index: usize) -> Option<(usize, KubectlError)> {
        let node = &self.works[index].node;
        let how = How {
            manager: special::manager(node, &self.manager),
            policy: node.metadata.conflict_policy,
            dry_run: true,
            precondition: Precondition::None,
            secrets: self.context.events.secrets(),
        };
        let within = self.context.deadline.call();
        let tried = conflicts::apply(self.context.kubectl, &node.template, how, within).await;
        Some((index, tried.err()?))
    }

    /// Whether the write would meet the same error.
    fn is_definite(&self, index: usize, error: &KubectlError) -> bool {
        let work = &self.works[index];
        let text = error.to_string();
        match error.fault() {
            // A change that is refused may be replaced, or says so: the apply decides.
            Some(ObjectFault::Invalid) => work.before().is_none(),
            Some(ObjectFault::Conflict) => true,
            Some(ObjectFault::Refused) => !text.contains(NO_DRY_RUN),
            // Other objects that are missing may be in the plan, such as the role of a binding.
            Some(ObjectFault::Missing) => text.starts_with("namespaces "),
            _ => false,
        }
    }

    /// One cause for each different refusal, at the field of the first resource that has it.
    fn grouped(&self, refused: Vec<(usize, KubectlError)>) -> Vec<ErrorBody> {
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut groups: Vec<Vec<(usize, KubectlError)>> = Vec::new();
        for (index, error) in refused {
            let object = &self.works[index].node.object;
            let name = &object.name;
            let text = error.to_string().replace(&format!("/{name};"), "/;");
            let key = text.replace(&format!("\"{name}\""), "");
            let place = *places.entry(key).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push((index, error)),
                None => groups.push(vec![(index, error)]),
            }
        }
        groups
            .iter()
            .filter_map(|group| self.cause(group))
            .collect()
    }

    fn cause(&self, group: &[(usize, KubectlError)]) -> Option<ErrorBody> {
        let ((first, error), others) = group.split_first()?;
        let mut text = error.to_string();
        if !others.is_empty() {
            let names = others.iter().take(NAMED);
            let names: Vec<&str> = names
                .map(|(index, _)| self.works[*index].node.resource.name.as_str())
                .collect();
            let more = if others.len() > NAMED { ", …" } else { "" };
            let (count, names) = (others.len(), names.join(", "));
            text = format!("{text}; the same for {count} more: {names}{more}");
        }
        if error.fault() == Some(ObjectFault::Missing) {
            text.push_str("; create the namespace, or let the request create it (createNamespace)");
        }
        let mut body = fault(&self.works[*first].node, ErrorCode::ResourcesFailed, &text);
        if let Some(location) = &mut body.location {
            location.path = field(error);
        }
        Some(body)
    }
}

/// The first field that is at fault.
fn field(error: &KubectlError) -> Option<String> {
    let KubectlError::Object(found) = error else {
        return None;
    };
    let named = found.causes.iter().map(|cause| cause.field.as_str());
    let named = named.chain(undeclared(&found.text));
    let mut named = named.map(|field| field.trim_start_matches('.'));
    named.find(|field| !field.is_empty()).map(str::to_owned)
}

/// The field in `….spec.x: field not declared in schema`.
fn undeclared(text: &str) -> Option<&str> {
    let (before, _) = text.split_once(UNDECLARED)?;
    before.rsplit(char::is_whitespace).next()
}

/// What server-side apply says of a field that the kind does not have.
pub const UNDECLARED: &str = ": field not declared in schema";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubectl::{Cause, ObjectError};

    fn error(text: &str, fields: &[&str]) -> KubectlError {
        let cause = |field: &&str| Cause {
            reason: "FieldValueInvalid".to_owned(),
            field: (*field).to_owned(),
            message: String::new(),
        };
        ObjectError {
            fault: ObjectFault::Invalid,
            text: text.to_owned(),
            causes: fields.iter().map(cause).collect(),
        }
        .into()
    }

    #[test]
    fn the_field_at_fault_is_found_in_the_causes_or_in_the_text() {
        let text = "failed to create typed patch object (/u; /v1, Kind=ConfigMap): .dta: field not declared in schema";
        for (error, expected) in [
            (error("x", &["spec.replicas"]), Some("spec.replicas")),
            (error("x", &["", ".spec.a"]), Some("spec.a")),
            (error(text, &[]), Some("dta")),
            (error("refused", &[]), None),
        ] {
            assert_eq!(field(&error).as_deref(), expected);
        }
    }
}
