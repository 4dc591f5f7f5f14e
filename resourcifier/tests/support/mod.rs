//! A cluster in memory behind the port, whose troubles are scripted.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use common::model::ObjectRef;
use resourcifier::kubectl::{
    Cascade, Kubectl, KubectlError, Marks, ObjectError, ObjectFault, Outcomes, Query, Versions,
};
use resourcifier::plan::{ServedKind, object_ref};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub struct Cluster(Mutex<State>);

#[derive(Debug, Default)]
pub struct State {
    /// By name: the tests give each object its own.
    pub objects: BTreeMap<String, Value>,
    /// Objects that the API server refuses.
    pub refused: Vec<String>,
    /// What an object becomes when it has been looked at this many times.
    pub later: BTreeMap<String, (usize, Value)>,
    /// Calls that fail before the API server is back.
    pub away: usize,
    /// `apply a b`, `delete c`: the calls that change something.
    pub calls: Vec<String>,
    uids: usize,
}

impl Cluster {
    pub fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    pub fn names(&self) -> Vec<String> {
        self.with(|state| state.objects.keys().cloned().collect())
    }

    fn reach(&self) -> Result<std::sync::MutexGuard<'_, State>, KubectlError> {
        let mut state = self.0.lock().unwrap();
        if state.away > 0 {
            state.away -= 1;
            return Err(KubectlError::Unreachable("connection refused".to_owned()));
        }
        Ok(state)
    }
}

fn served(api_version: &str, kind: &str, resource: &str) -> ServedKind {
    ServedKind {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        resource: resource.to_owned(),
        namespaced: true,
        applicable: true,
    }
}

impl State {
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

    fn apply(&mut self, object: &Value) -> Result<Value, ObjectError> {
        let name = object_ref(object).name;
        if self.refused.contains(&name) {
            return Err(ObjectError {
                fault: ObjectFault::Refused,
                text: format!("{name} is refused"),
            });
        }
        let mut live = object.clone();
        self.uids += 1;
        let before = self.objects.get(&name);
        live["metadata"]["uid"] = before.map_or_else(
            || json!(format!("uid-{}", self.uids)),
            |old| old["metadata"]["uid"].clone(),
        );
        live["status"] = before.map_or(Value::Null, |old| old["status"].clone());
        self.objects.insert(name, live.clone());
        Ok(live)
    }

    fn note(&mut self, call: &str, objects: &[ObjectRef]) {
        let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
        self.calls.push(format!("{call} {}", names.join(" ")));
    }
}

#[async_trait]
impl Kubectl for Cluster {
    async fn versions(&self, _: Duration) -> Result<Versions, KubectlError> {
        let server = self
            .reach()
            .map(|_| "v1".to_owned())
            .map_err(|error| error.to_string());
        Ok(Versions {
            client: "v1".to_owned(),
            server,
            skew: None,
        })
    }

    async fn kinds(&self) -> Result<Vec<ServedKind>, KubectlError> {
        Ok(vec![
            served("v1", "ConfigMap", "configmaps"),
            served("v1", "Service", "services"),
            served("batch/v1", "Job", "jobs"),
        ])
    }

    async fn kinds_of(&self, _: &str) -> Result<Vec<ServedKind>, KubectlError> {
        Ok(Vec::new())
    }

    async fn get(
        &self,
        objects: &[ObjectRef],
        _: Duration,
    ) -> Result<Outcomes<Option<Value>>, KubectlError> {
        let mut state = self.reach()?;
        Ok(objects
            .iter()
            .map(|object| Ok(state.look(&object.name)))
            .collect())
    }

    async fn apply(
        &self,
        _: &str,
        objects: &[Value],
        _: Duration,
    ) -> Result<Outcomes<Value>, KubectlError> {
        let mut state = self.reach()?;
        state.note("apply", &objects.iter().map(object_ref).collect::<Vec<_>>());
        Ok(objects.iter().map(|object| state.apply(object)).collect())
    }

    async fn delete(
        &self,
        objects: &[ObjectRef],
        _: Cascade,
        _: Duration,
    ) -> Result<Outcomes<()>, KubectlError> {
        let mut state = self.reach()?;
        state.note("delete", objects);
        for object in objects {
            state.objects.remove(&object.name);
        }
        Ok(objects.iter().map(|_| Ok(())).collect())
    }

    async fn unmark(
        &self,
        objects: &[ObjectRef],
        marks: &Marks<'_>,
        _: Duration,
    ) -> Result<(), KubectlError> {
        let mut state = self.reach()?;
        state.note("unmark", objects);
        for object in objects {
            let labels = state
                .objects
                .get_mut(&object.name)
                .and_then(|live| live["metadata"]["labels"].as_object_mut());
            labels
                .into_iter()
                .for_each(|labels| labels.retain(|key, _| !marks.labels.contains(&key.as_str())));
        }
        Ok(())
    }

    async fn read(&self, query: Query<'_>, _: Duration) -> Result<Option<Value>, KubectlError> {
        let mut state = self.reach()?;
        Ok(query.name.and_then(|name| state.look(name)))
    }
}
