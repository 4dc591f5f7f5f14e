//! A backend in memory. The type of a deployment says how its operations end.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use common::model::{DeploymentName, OperationId};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use crate::error::BrokerError;
use crate::port::{Backend, BackendError, Edit, Outcome, Version, Versioned, Write};
use crate::record::{Binding, Caller, Flags, Instance};

pub struct MemoryBackend {
    state: Mutex<State>,
    /// Whether operations wait before they end.
    held: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    instances: BTreeMap<String, (u64, Instance)>,
    bindings: BTreeMap<(String, String), (u64, Binding)>,
    /// The configurations by deployment.
    deployments: BTreeMap<DeploymentName, String>,
    operations: HashMap<OperationId, Started>,
    count: u64,
}

struct Started {
    write: Write,
    content: String,
    before: Option<String>,
    ended: Option<Outcome>,
}

impl Default for MemoryBackend {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            held: watch::Sender::new(false),
        }
    }
}

impl MemoryBackend {
    /// From now on, operations and removals wait.
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// The configurations of all deployments.
    pub fn deployments(&self) -> BTreeMap<String, Value> {
        let state = self.state();
        let deployments = state.deployments.iter();
        deployments
            .map(|(name, content)| (name.to_string(), serde_json::from_str(content).unwrap()))
            .collect()
    }

    /// The number of operations that ever began.
    pub fn started(&self) -> usize {
        self.state().operations.len()
    }

    /// Everything that is stored and deployed, as text.
    pub fn stored(&self) -> String {
        let state = self.state();
        format!(
            "{:?} {:?} {:?}",
            state.instances, state.bindings, state.deployments
        )
    }

    pub fn stored_instance(&self, id: &str) -> Option<Instance> {
        self.state().instances.get(id).map(|(_, one)| one.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn wait(&self) {
        let mut held = self.held.subscribe();
        held.wait_for(|held| !held).await.unwrap();
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn check(&self, edit: &Edit) -> Result<(), BackendError> {
        let version = |number: Option<&u64>| number.map(|number| number.to_be_bytes().to_vec());
        let instance = |id: &String| version(self.instances.get(id).map(|(number, _)| number));
        let binding = |one: &Binding| {
            let key = (one.instance.clone(), one.id.clone());
            version(self.bindings.get(&key).map(|(number, _)| number))
        };
        let (now, expected): (Option<Version>, Option<Version>) = match edit {
            Edit::Instance(one, expected) => (instance(&one.id), expected.clone()),
            Edit::Binding(one, expected) => (binding(one), expected.clone()),
            Edit::KeepInstance(id, expected) => (instance(id), Some(expected.clone())),
            Edit::ForgetInstance(one, expected) => (instance(&one.id), Some(expected.clone())),
            Edit::ForgetBinding(one, expected) => (binding(one), Some(expected.clone())),
        };
        match now == expected {
            true => Ok(()),
            false => Err(BackendError::Conflict),
        }
    }

    fn apply(&mut self, edits: Vec<Edit>) -> Result<(), BackendError> {
        edits.iter().try_for_each(|edit| self.check(edit))?;
        for edit in edits {
            let number = self.number();
            match edit {
                Edit::Instance(one, _) => {
                    self.instances.insert(one.id.clone(), (number, one));
                }
                Edit::Binding(one, _) => {
                    let key = (one.instance.clone(), one.id.clone());
                    self.bindings.insert(key, (number, one));
                }
                Edit::KeepInstance(..) => {}
                Edit::ForgetInstance(one, _) => drop(self.instances.remove(&one.id)),
                Edit::ForgetBinding(one, _) => {
                    drop(self.bindings.remove(&(one.instance, one.id)));
                }
            }
        }
        Ok(())
    }
}

fn versioned<T: Clone>((number, record): &(u64, T)) -> Versioned<T> {
    Versioned {
        record: record.clone(),
        version: number.to_be_bytes().to_vec(),
    }
}

fn type_of(content: &str) -> (String, Map<String, Value>) {
    let content: Value = serde_json::from_str(content).unwrap();
    let resource = &content["resources"][0];
    let properties = resource["properties"].as_object().cloned();
    (
        resource["type"].as_str().unwrap().to_owned(),
        properties.unwrap_or_default(),
    )
}

/// How an operation with this configuration ends.
fn outcome(content: &str, number: u64) -> Outcome {
    let (type_name, properties) = type_of(content);
    let failed = |is_callers, is_undone| Outcome::Failed {
        description: format!("{type_name} fails"),
        is_callers,
        is_undone,
        flags: Flags::default(),
    };
    let outputs = |outputs: Value| Outcome::Succeeded {
        outputs: outputs.as_object().cloned().unwrap(),
    };
    if properties.contains_key("fault") {
        return failed(true, true);
    }
    if properties.contains_key("fail") {
        return failed(false, true);
    }
    match type_name.as_str() {
        "refused" => failed(true, true),
        "broken" => failed(false, true),
        "dirty" => failed(false, false),
        "login" => outputs(json!({"credentials": {"password": format!("s3cret-{number}")}})),
        "text" => outputs(json!({"credentials": "no object"})),
        "syslog" => outputs(json!({"credentials": {}, "syslog_drain_url": "syslog://a"})),
        "old" => outputs(json!({"metadata": {"expires_at": "2001-01-01T00:00:00.0Z"}})),
        _ => outputs(json!({})),
    }
}

#[async_trait]
impl Backend for MemoryBackend {
    fn operation_id(&self) -> Result<OperationId, BackendError> {
        Ok(OperationId::parse(format!("op-{}", self.state().number())).unwrap())
    }

    async fn instance(&self, id: &str) -> Result<Option<Versioned<Instance>>, BackendError> {
        Ok(self.state().instances.get(id).map(versioned))
    }

    async fn binding(
        &self,
        instance: &str,
        id: &str,
    ) -> Result<Option<Versioned<Binding>>, BackendError> {
        let key = (instance.to_owned(), id.to_owned());
        Ok(self.state().bindings.get(&key).map(versioned))
    }

    async fn bindings(&self, instance: &str) -> Result<Vec<Versioned<Binding>>, BackendError> {
        let state = self.state();
        let all = state.bindings.iter();
        let of = all.filter(|((of, _), _)| of == instance);
        Ok(of.map(|(_, found)| versioned(found)).collect())
    }

    async fn unfinished(&self) -> Result<(Vec<Instance>, Vec<Binding>), BackendError> {
        let state = self.state();
        let instances = state.instances.values().map(|(_, one)| one.clone());
        let bindings = state.bindings.values().map(|(_, one)| one.clone());
        Ok((
            instances.filter(|one| one.operation.is_running()).collect(),
            bindings.filter(|one| one.operation.is_running()).collect(),
        ))
    }

    async fn commit(&self, edits: Vec<Edit>) -> Result<(), BackendError> {
        self.state().apply(edits)
    }

    async fn start(&self, edits: Vec<Edit>, write: Write) -> Result<(), BackendError> {
        let mut state = self.state();
        let kept = state.deployments.get(&write.deployment).cloned();
        let content = write.content.clone().or(kept);
        let content = content
            .ok_or_else(|| BackendError::Refused(BrokerError::new(404, "no such deployment")))?;
        if type_of(&content).0 == "forbidden" {
            return Err(BackendError::Refused(BrokerError::new(
                403,
                "not permitted",
            )));
        }
        assert_eq!(
            state.deployments.contains_key(&write.deployment),
            !write.is_new,
            "{write:?}"
        );
        state.apply(edits)?;
        let name = write.deployment.clone();
        let before = state.deployments.insert(name, content.clone());
        let started = Started {
            before,
            ended: None,
            content,
            write,
        };
        state
            .operations
            .insert(started.write.operation.clone(), started);
        Ok(())
    }

    async fn outcome(&self, operation: &OperationId) -> Result<Outcome, BackendError> {
        self.wait().await;
        let mut state = self.state();
        let number = state.number();
        let State {
            operations,
            deployments,
            ..
        } = &mut *state;
        let started = operations.get_mut(operation).unwrap();
        if let Some(ended) = &started.ended {
            return Ok(ended.clone());
        }
        let ended = outcome(&started.content, number);
        if let Outcome::Failed {
            is_undone: true, ..
        } = ended
        {
            let name = started.write.deployment.clone();
            match &started.before {
                Some(before) => drop(deployments.insert(name, before.clone())),
                None => drop(deployments.remove(&name)),
            }
        }
        started.ended = Some(ended.clone());
        Ok(ended)
    }

    async fn promised(
        &self,
        operation: &OperationId,
    ) -> Result<Option<Map<String, Value>>, BackendError> {
        let state = self.state();
        let started = &state.operations[operation];
        let (type_name, properties) = type_of(&started.content);
        let dashboard = json!({"dashboard_url": format!("http://{type_name}")});
        let is_faulty = properties.contains_key("fault");
        Ok(dashboard.as_object().cloned().filter(|_| !is_faulty))
    }

    async fn exposed(
        &self,
        deployment: &DeploymentName,
        _: &Caller,
    ) -> Result<Map<String, Value>, BackendError> {
        let content = self.state().deployments[deployment].clone();
        let (_, properties) = type_of(&content);
        match properties.contains_key("hidden") {
            true => Err(BackendError::Refused(BrokerError::new(500, "it is hidden"))),
            false => Ok(properties),
        }
    }

    async fn remove(
        &self,
        deployment: &DeploymentName,
        _: &Caller,
    ) -> Result<Option<String>, BackendError> {
        self.wait().await;
        let mut state = self.state();
        let content = state.deployments.get(deployment).cloned();
        if content.is_some_and(|content| type_of(&content).0 == "sticky") {
            return Ok(Some("sticky cannot be removed".to_owned()));
        }
        state.deployments.remove(deployment);
        let running = state.operations.values_mut();
        for started in running.filter(|one| one.write.deployment == *deployment) {
            started.ended.get_or_insert(Outcome::Failed {
                description: "the operation was stopped".to_owned(),
                is_callers: false,
                is_undone: true,
                flags: Flags::default(),
            });
        }
        Ok(None)
    }
}
