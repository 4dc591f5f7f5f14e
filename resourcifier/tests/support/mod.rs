//! A cluster in memory behind the port, whose troubles are scripted.
//!
//! It keeps the port's promises for objects without lists that merge: every list is one value.

mod fields;
mod port;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use common::api::review::{Access, AccessVerdict};
use common::model::ObjectRef;
use resourcifier::kubectl::{
    ApplyOptions, Cause, Change, DeleteOptions, Deletion, KubectlError, ObjectError, ObjectEvent,
    ObjectFault,
};
use resourcifier::plan::object_ref;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use fields::Path;

#[derive(Debug)]
pub struct Cluster {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
}

#[derive(Debug, Default)]
pub struct State {
    /// By name: the tests give each object its own.
    pub objects: BTreeMap<String, Value>,
    /// Objects that the API server refuses.
    pub refused: Vec<String>,
    /// What an object's status becomes when it has been looked at this many times.
    pub later: BTreeMap<String, (usize, Value)>,
    /// Objects whose applying is never answered.
    pub hanging: Vec<String>,
    /// Calls that fail before the API server is back.
    pub away: usize,
    /// Whether changes can be watched; else that is forbidden.
    pub watchable: bool,
    /// The logs of containers, by `pod/container`.
    pub logs: BTreeMap<String, String>,
    /// What was noted about objects, by name.
    pub events: BTreeMap<String, Vec<ObjectEvent>>,
    /// What nobody may do: `patch configmaps` of all of them, or `patch configmaps/a` of one.
    pub denied: Vec<String>,
    /// Questions about what the caller may do.
    pub reviews: usize,
    /// `apply a`, `delete c`: the calls that change something.
    pub calls: Vec<String>,
    /// `get a`, `list ConfigMap`: the others.
    pub reads: Vec<String>,
    /// Which fields each manager owns, by the object's name.
    owned: BTreeMap<String, BTreeMap<String, BTreeSet<Path>>>,
    uids: usize,
    version: usize,
}

impl Default for Cluster {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changes: broadcast::channel(256).0,
        }
    }
}

impl Cluster {
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    pub fn names(&self) -> Vec<String> {
        self.with(|state| state.objects.keys().cloned().collect())
    }

    /// What a controller writes; whoever watches sees it.
    pub fn set_status(&self, name: &str, status: Value) {
        let object = self.with(|state| {
            let version = state.next_version();
            let object = state.objects.get_mut(name)?;
            object["status"] = status;
            object["metadata"]["resourceVersion"] = version;
            Some(object.clone())
        });
        object
            .into_iter()
            .for_each(|object| self.tell(Change::Is(object)));
    }

    fn tell(&self, change: Change) {
        // Nobody may be watching.
        let _ = self.changes.send(change);
    }
}

pub fn refusal(fault: ObjectFault, text: &str, causes: Vec<Cause>) -> KubectlError {
    KubectlError::Object(ObjectError {
        fault,
        text: text.to_owned(),
        causes,
    })
}

impl State {
    /// Who may do something to some objects of a kind only, may not do it to the kind.
    fn review(&self, access: &Access) -> AccessVerdict {
        let kind = format!("{} {}", access.verb, access.resource);
        let of_kind = format!("{kind}/");
        let denies = |denied: &String| match &access.name {
            Some(name) => *denied == kind || *denied == format!("{of_kind}{name}"),
            None => *denied == kind || denied.starts_with(&of_kind),
        };
        AccessVerdict {
            allowed: !self.denied.iter().any(denies),
            reason: None,
        }
    }

    fn next_version(&mut self) -> Value {
        self.version += 1;
        json!(self.version.to_string())
    }

    fn look(&mut self, name: &str) -> Option<Value> {
        if let Some((looks, then)) = self.later.get_mut(name) {
            match looks.checked_sub(1) {
                Some(left) => *looks = left,
                None => {
                    let then = then.clone();
                    self.objects.get_mut(name)?["status"] = then;
                }
            }
        }
        self.objects.get(name).cloned()
    }

    fn apply(&mut self, object: &Value, options: ApplyOptions<'_>) -> Result<Value, KubectlError> {
        let name = object_ref(object).name;
        if self.refused.contains(&name) {
            return Err(refusal(
                ObjectFault::Refused,
                &format!("{name} is refused"),
                Vec::new(),
            ));
        }
        let before = self.objects.get(&name).cloned();
        let mut owned = self.owned.get(&name).cloned().unwrap_or_default();
        let mut live = before.clone().unwrap_or_else(|| self.newborn(object));
        let conflicts = fields::apply(&mut live, object, &mut owned, options);
        if !conflicts.is_empty() {
            let text = format!("other managers own {} fields", conflicts.len());
            return Err(refusal(ObjectFault::Conflict, &text, conflicts));
        }
        live["metadata"]["managedFields"] = fields::managed(&live, &owned);
        if before.as_ref() != Some(&live) {
            live["metadata"]["resourceVersion"] = self.next_version();
        }
        if !options.dry_run {
            self.owned.insert(name.clone(), owned);
            self.objects.insert(name, live.clone());
        }
        Ok(live)
    }

    fn newborn(&mut self, object: &Value) -> Value {
        self.uids += 1;
        let mut live =
            json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {}});
        for field in ["name", "namespace"] {
            if let Some(value) = object["metadata"].get(field) {
                live["metadata"][field] = value.clone();
            }
        }
        live["metadata"]["uid"] = json!(format!("uid-{}", self.uids));
        live
    }

    fn delete(&mut self, object: &ObjectRef, options: DeleteOptions<'_>) -> Deletion {
        let Some(live) = self.objects.get(&object.name) else {
            return Deletion::Missing;
        };
        if options
            .uid
            .is_some_and(|uid| live["metadata"]["uid"] != uid)
        {
            return Deletion::Replaced;
        }
        self.objects.remove(&object.name);
        self.owned.remove(&object.name);
        Deletion::Gone
    }
}
