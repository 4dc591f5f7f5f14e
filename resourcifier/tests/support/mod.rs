//! A cluster in memory behind the port, whose troubles are scripted.
//!
//! It keeps the port's promises for objects without lists that merge: every list is one value.

mod fields;
mod port;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use common::api::review::{AccessVerdict, ResourceAttributes};
use common::model::ObjectRef;
use resourcifier::kubectl::{
    ApplyOptions, Cause, Change, DeleteOptions, Deletion, KubectlError, ObjectError, ObjectEvent,
    ObjectFault, PatchOptions, Precondition, object_ref,
};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, broadcast};

use fields::Path;

#[derive(Debug)]
pub struct Cluster {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
}

/// Somebody else at work, between two calls.
pub struct Interruption {
    pub before: String,
    pub work: Box<dyn FnOnce(&mut State) + Send>,
}

impl std::fmt::Debug for Interruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.before)
    }
}

#[derive(Debug, Default)]
pub struct State {
    /// By name: the tests give each object its own.
    pub objects: BTreeMap<String, Value>,
    /// Objects that the API server refuses.
    pub refused: Vec<String>,
    /// Objects that validation lets nobody change.
    pub immutable: Vec<String>,
    /// Objects that an admission policy lets nobody change; its words are like those of validation.
    pub guarded: Vec<String>,
    /// Objects that nobody can create.
    pub uncreatable: Vec<String>,
    /// Another writer: what happens directly before a call, such as `apply a`, once each.
    pub others: Vec<Interruption>,
    /// What an object's status becomes when it has been looked at this many times.
    pub later: BTreeMap<String, (usize, Value)>,
    /// Writes to these objects are on their way until the test gives a permit.
    pub holds: BTreeMap<String, Arc<Semaphore>>,
    /// Objects whose writes have come to their hold.
    pub sent: Vec<String>,
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

    /// A controller's write. Watchers see it.
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

    /// Lets somebody else work right before the next call like this.
    pub fn before(&self, call: &str, work: impl FnOnce(&mut State) + Send + 'static) {
        let before = call.to_owned();
        let work = Box::new(work);
        self.with(|state| state.others.push(Interruption { before, work }));
    }

    fn interrupt(&self, call: &str) {
        self.with(|state| {
            let place = state.others.iter().position(|other| other.before == call);
            if let Some(place) = place {
                let other = state.others.remove(place);
                (other.work)(state);
            }
        });
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
    /// A permission for some objects of a kind is not a permission for the kind.
    fn review(&self, access: &ResourceAttributes) -> AccessVerdict {
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
        hold(before.as_ref(), options.precondition)?;
        if before.is_none() {
            self.create(&name)?;
        }
        let mut owned = self.owned.get(&name).cloned().unwrap_or_default();
        let mut live = before.clone().unwrap_or_else(|| self.newborn(object));
        let conflicts = fields::apply(&mut live, object, &mut owned, options);
        if !conflicts.is_empty() {
            let text = format!("other managers own {} fields", conflicts.len());
            return Err(refusal(ObjectFault::Conflict, &text, conflicts));
        }
        if let Some(before) = &before {
            self.allows(&name, before, &live)?;
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

    pub fn create(&self, name: &str) -> Result<(), KubectlError> {
        let refuses = |names: &Vec<String>| names.iter().any(|refused| refused == name);
        if refuses(&self.refused) || refuses(&self.uncreatable) {
            let text = format!("{name} is refused");
            return Err(refusal(ObjectFault::Refused, &text, Vec::new()));
        }
        Ok(())
    }

    /// Whether validation and admission let the object change.
    fn allows(&self, name: &str, before: &Value, after: &Value) -> Result<(), KubectlError> {
        let is_same = ["data", "spec"]
            .iter()
            .all(|field| before.get(field) == after.get(field));
        if is_same {
            return Ok(());
        }
        if self.guarded.iter().any(|guarded| guarded == name) {
            let text = "a policy denied the request: updates to data are not allowed, immutable";
            return Err(refusal(ObjectFault::Refused, text, Vec::new()));
        }
        if self.immutable.iter().any(|immutable| immutable == name) {
            let cause = Cause {
                reason: "FieldValueForbidden".to_owned(),
                field: "data".to_owned(),
                message: "no".to_owned(),
            };
            return Err(refusal(ObjectFault::Invalid, "data: no", vec![cause]));
        }
        Ok(())
    }

    fn patch(
        &mut self,
        name: &str,
        patch: &Value,
        options: PatchOptions<'_>,
    ) -> Result<Option<Value>, KubectlError> {
        let Some(before) = self.objects.get(name).cloned() else {
            return Ok(None);
        };
        hold(Some(&before), options.precondition)?;
        let mut owned = self.owned.get(name).cloned().unwrap_or_default();
        let live = fields::patch(&before, patch, &mut owned, options.manager);
        Ok(Some(self.put(name, live, owned)))
    }

    /// Writes an object and who owns its fields.
    fn put(&mut self, name: &str, mut live: Value, owned: fields::Owned) -> Value {
        live["metadata"]["managedFields"] = fields::managed(&live, &owned);
        if self.objects.get(name) != Some(&live) {
            live["metadata"]["resourceVersion"] = self.next_version();
        }
        self.owned.insert(name.to_owned(), owned);
        self.objects.insert(name.to_owned(), live.clone());
        live
    }

    /// What somebody else deletes.
    pub fn remove(&mut self, name: &str) {
        self.objects.remove(name);
        self.owned.remove(name);
    }

    /// What somebody else applies, with force.
    pub fn others_apply(&mut self, manager: &str, object: &Value) {
        let options = ApplyOptions {
            manager,
            force: true,
            dry_run: false,
            precondition: Precondition::None,
        };
        self.apply(object, options).unwrap();
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
        let differs = |field: &str, wanted: Option<&str>| {
            wanted.is_some_and(|wanted| live["metadata"][field] != wanted)
        };
        if differs("uid", options.uid) {
            return Deletion::Replaced;
        }
        if differs("resourceVersion", options.version) {
            return Deletion::Changed;
        }
        self.remove(&object.name);
        Deletion::Gone
    }
}

/// Whether the precondition holds.
fn hold(live: Option<&Value>, precondition: Precondition<'_>) -> Result<(), KubectlError> {
    let holds = match (precondition, live) {
        (Precondition::None, _) | (Precondition::Absent, None) => true,
        (Precondition::Absent, Some(_)) | (Precondition::Unchanged { .. }, None) => false,
        (Precondition::Unchanged { uid, version }, Some(live)) => {
            live["metadata"]["uid"] == uid && live["metadata"]["resourceVersion"] == version
        }
    };
    let text = "the object has been modified";
    holds
        .then_some(())
        .ok_or_else(|| refusal(ObjectFault::Changed, text, Vec::new()))
}
