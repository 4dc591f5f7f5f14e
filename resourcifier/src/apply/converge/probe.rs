//! References to fields that can never have a value: the object is ready, and its kind has no such field.
//!
//! The API server knows the fields of its kinds. A dry run that sets the field is refused if the schema does not declare it. A
//! field that is declared may still be filled in by somebody, so it is waited for.

use common::api::deployer::ResourceState;
use serde_json::{Value, json};

use super::phase::{Event, Failure};
use super::preflight::UNDECLARED;
use super::{Run, Step};
use crate::kubectl::{ApplyOptions, KubectlError, Precondition};
use crate::plan::{Path, Reference};

/// The field manager of the dry run. Nothing is written in its name.
const MANAGER: &str = "dm-probe";
/// Fields that an error names.
const NAMED: usize = 8;
/// How deep they may be.
const DEPTH: usize = 3;

impl Run<'_> {
    /// Asks once for each missing value whether it can ever be there.
    pub(super) fn probe(&mut self, index: usize, reference: &Reference) {
        let target = &self.works[reference.target];
        let is_new = || (index, reference.text.clone());
        if target.state() != ResourceState::Ready || !self.probed.insert(is_new()) {
            return;
        }
        let Some(live) = target.live() else { return };
        let (path, object) = (reference.path.clone(), probe_object(&reference.path, live));
        let (context, reference) = (self.context, reference.clone());
        self.steps.push(Box::pin(async move {
            let options = ApplyOptions {
                manager: MANAGER,
                force: true,
                dry_run: true,
                precondition: Precondition::None,
            };
            let within = context.deadline.call();
            let tried = context.kubectl.apply(&object, options, within).await;
            let is_impossible = tried.is_err_and(|error| is_undeclared(&error, &path));
            Step::Probed(index, reference, is_impossible)
        }));
    }

    pub(super) fn probed(&mut self, index: usize, reference: &Reference, is_impossible: bool) {
        if !is_impossible || self.works[index].state() != ResourceState::Pending {
            return;
        }
        let target = &self.works[reference.target];
        let fields = target.live().map(fields).unwrap_or_default();
        let advice = advice(&reference.path.to_string(), &fields);
        let text = format!(
            "{} can never have a value: {} is ready, and its kind has no field {}; {advice}",
            reference.text, target.node.object, reference.path
        );
        self.schedule.back(index);
        self.works[index].on(Event::Failed(Failure::of_resource(text)));
        self.settled(index);
    }
}

/// An object of which only the field is set.
fn probe_object(path: &Path, live: &Value) -> Value {
    let mut object = path.object(json!("x"));
    object["apiVersion"] = live["apiVersion"].clone();
    object["kind"] = live["kind"].clone();
    for name in ["name", "namespace"] {
        if live["metadata"][name].is_string() {
            object["metadata"][name] = live["metadata"][name].clone();
        }
    }
    object
}

/// Whether the API server refuses the field because the kind has none of that name.
fn is_undeclared(error: &KubectlError, path: &Path) -> bool {
    let text = error.to_string();
    let Some((before, _)) = text.split_once(UNDECLARED) else {
        return false;
    };
    let field = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let field = field.trim_start_matches('.');
    !field.is_empty() && path.to_string().starts_with(field)
}

/// The paths of values in the object.
fn fields(live: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(live, &Path::default(), DEPTH, &mut found);
    found
}

fn collect(value: &Value, path: &Path, depth: usize, found: &mut Vec<String>) {
    match value.as_object().filter(|_| depth > 0) {
        Some(map) => map
            .iter()
            .for_each(|(key, value)| collect(value, &path.key(key), depth - 1, found)),
        None => found.push(path.to_string()),
    }
}

/// The field that was meant perhaps, or those that are there.
fn advice(wanted: &str, fields: &[String]) -> String {
    // Google's objects have a link to themselves. Here, a name identifies an object.
    if wanted == "selfLink" || wanted == "metadata.selfLink" {
        return "did you mean metadata.name?".to_owned();
    }
    /// From 0, nothing in common, to 1, equal.
    const NEAR: f64 = 0.8;
    let near = |field: &&String| strsim::jaro_winkler(wanted, field);
    let best = fields
        .iter()
        .max_by(|one, other| near(one).total_cmp(&near(other)));
    match best.filter(|best| near(best) >= NEAR) {
        Some(best) => format!("did you mean {best}?"),
        None => {
            let named: Vec<&str> = fields.iter().take(NAMED).map(String::as_str).collect();
            format!("it has {}", named.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", "uid": "u"}, "data": {"k.v": "1"}})
    }

    #[test]
    fn the_field_that_was_meant_is_named_or_those_that_are_there() {
        let fields = fields(&live());
        for (wanted, expected) in [
            ("selfLink", "did you mean metadata.name?"),
            ("metadata.nam", "did you mean metadata.name?"),
            ("data['k.x']", "did you mean data['k.v']?"),
            (
                "zzz",
                "it has apiVersion, kind, metadata.name, metadata.namespace, metadata.uid, data['k.v']",
            ),
        ] {
            assert_eq!(advice(wanted, &fields), expected, "{wanted}");
        }
    }

    #[test]
    fn a_probe_sets_the_field_and_names_the_object() {
        let path = Path::parse(".spec.ports[0].x").unwrap();
        let expected = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "spec": {"ports": [{"x": "x"}]}});
        assert_eq!(probe_object(&path, &live()), expected);
        let path = Path::parse(".metadata.nam").unwrap();
        let metadata = json!({"nam": "x", "name": "a", "namespace": "n"});
        assert_eq!(probe_object(&path, &live())["metadata"], metadata);
    }
}
