//! The objects of an instance or a binding.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use common::model::INHERITED;
use expandybird_gotemplate::Session;
use expandybird_gotemplate::budget::Limits;
use expandybird_gotemplate::error::Failure;
use expandybird_gotemplate::value::Value as GoValue;
use expandybird_sprig::made::Host;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::config::{Actions, Config, Entry, ReadinessCheck};
use crate::made::{Kept, Ledger, Random, Source, Used};
use crate::registry::{CREDENTIALS, DASHBOARD, Registry};
use crate::render::{Top, rendered};
use crate::run::{Run, Snippets};

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Instance,
    Binding,
}

/// Steps of one run. A configuration of some hundred objects needs some ten thousand.
const STEPS: u64 = 20_000_000;

/// What an instance or a binding is made of.
pub struct Inputs {
    pub action: Action,
    /// The names of the service and of its plan.
    pub service: String,
    pub plan: String,
    pub instance_id: String,
    pub binding_id: Option<String>,
    pub namespace: String,
    pub parameters: Value,
    /// The values of earlier runs, by their names.
    pub kept: BTreeMap<String, Kept>,
    pub random: Random,
    pub time: Timestamp,
}

/// An object of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedObject {
    pub value: Value,
    /// Where its template stands in the document.
    pub pointer: String,
    pub step: usize,
    /// Whether all instances share it.
    pub is_singleton: bool,
}

/// A condition that ends a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub step: usize,
    pub name: String,
    pub timeout: Duration,
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub object: String,
    pub condition: String,
    pub status: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Processed {
    /// In the order of the steps.
    pub objects: Vec<PlacedObject>,
    pub checks: Vec<Check>,
    /// `dashboard_url` of an instance, `credentials` of a binding.
    pub outputs: Map<String, Value>,
    /// All values that were made up, now or before.
    pub used: Vec<Used>,
}

/// Why there are no objects.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProcessError {
    #[error("the configuration has no plan {plan:?} of a service {service:?}")]
    NoPlan { service: String, plan: String },
    #[error("service plan {0:?} cannot be bound")]
    NotBindable(String),
    /// At this place of the document.
    #[error("dynamic attribute resolution failed: {failure}")]
    Failed { pointer: String, failure: Failure },
    #[error("a readiness check needs the {field} of its object, and it is {found}")]
    Check {
        pointer: String,
        field: &'static str,
        found: String,
    },
}

/// Computes the registry, then the objects of all steps.
///
/// # Errors
/// There is no such plan, or an attribute fails.
pub fn process(config: &Arc<Config>, inputs: Inputs) -> Result<Processed, ProcessError> {
    let missing = || ProcessError::NoPlan {
        service: inputs.service.clone(),
        plan: inputs.plan.clone(),
    };
    let (service, plan) = config
        .plan(&inputs.service, &inputs.plan)
        .ok_or_else(missing)?;
    let binding = config
        .binding(&inputs.service, &inputs.plan)
        .ok_or_else(missing)?;
    let actions = match inputs.action {
        Action::Instance => Some(&binding.instance),
        Action::Binding => binding.binding.as_ref(),
    };
    let actions = actions.ok_or_else(|| ProcessError::NotBindable(plan.name.clone()))?;
    let registry = given(&inputs, &service.id, &plan.id);
    let mut work = Work::new(config, inputs, registry);
    work.fill_registry(&actions.registry)?;
    let mut processed = work.objects(actions)?;
    processed.outputs = work.outputs();
    processed.used = work.used(&actions.registry, &processed.objects);
    Ok(processed)
}

/// The keys that the broker sets, and those that a binding inherits.
fn given(inputs: &Inputs, service: &str, plan: &str) -> Registry {
    let mut registry = Registry::default();
    for (name, kept) in &inputs.kept {
        if let Some(key) = name.strip_prefix(INHERITED) {
            registry.set(key, kept.value.clone());
        }
    }
    let text = |text: &str| Value::from(text);
    registry.set("namespace", text(&inputs.namespace));
    registry.set("instance-id", text(&inputs.instance_id));
    registry.set("service-id", text(service));
    registry.set("plan-id", text(plan));
    if let Some(id) = &inputs.binding_id {
        registry.set("binding-id", text(id));
    }
    registry
}

/// One run.
struct Work<'c> {
    config: &'c Arc<Config>,
    session: Session,
    ledger: Ledger,
    action: Action,
    kept: BTreeMap<String, Kept>,
}

impl<'c> Work<'c> {
    fn new(config: &'c Arc<Config>, inputs: Inputs, registry: Registry) -> Self {
        let ledger = Ledger::default();
        let texts = inputs.kept.iter();
        let texts =
            texts.filter_map(|(name, kept)| Some((name.clone(), kept.value.as_str()?.to_owned())));
        let source = Source {
            kept: texts.collect(),
            random: inputs.random,
            time: inputs.time,
            ledger: ledger.clone(),
        };
        for (name, kept) in inputs.kept.iter().filter(|(_, kept)| kept.secret) {
            let key = name.strip_prefix(INHERITED).unwrap_or(name);
            if kept.secret {
                ledger.keep(key);
            }
        }
        let limits = Limits {
            steps: STEPS,
            ..Limits::default()
        };
        let snippets: Arc<dyn Snippets> = Arc::clone(config) as _;
        let run = Run::new(snippets, registry, inputs.parameters, ledger.clone());
        Self {
            config,
            session: Session::new(limits, Host::new(Box::new(source))).with(run),
            ledger,
            action: inputs.action,
            kept: inputs.kept,
        }
    }

    fn rendered(&mut self, value: &Value, pointer: &str) -> Result<Value, ProcessError> {
        let mut top = Top {
            set: &self.config.set,
            session: &mut self.session,
        };
        let done = rendered(value, pointer, &GoValue::Nil, &mut top);
        done.map_err(|failure| ProcessError::Failed {
            pointer: place(&failure).unwrap_or_else(|| pointer.to_owned()),
            failure,
        })
    }

    fn set(&mut self, key: &str, value: Value) {
        if let Some(run) = self.session.host::<Run>() {
            run.registry.set(key, value);
        }
    }

    fn get(&mut self, key: &str) -> Option<Value> {
        self.session.host::<Run>()?.registry.get(key).cloned()
    }

    /// Each entry in its order: as it was kept, or else computed now.
    fn fill_registry(&mut self, entries: &[Entry]) -> Result<(), ProcessError> {
        for entry in entries {
            if let Some(kept) = self.kept.get(&entry.key) {
                let value = kept.value.clone();
                self.set(&entry.key, value);
                continue;
            }
            self.ledger.begin(&entry.key);
            let value = self.rendered(&Value::from(entry.value.as_str()), &entry.pointer)?;
            self.ledger.end();
            self.set(&entry.key, value);
        }
        Ok(())
    }

    fn objects(&mut self, actions: &Actions) -> Result<Processed, ProcessError> {
        let mut processed = Processed::default();
        let config = Arc::clone(self.config);
        for (index, step) in actions.steps.iter().enumerate() {
            for (name, _) in &step.templates {
                // Reading has checked that there is one.
                let Some(template) = config.template(name) else {
                    continue;
                };
                processed.objects.push(PlacedObject {
                    value: self.rendered(&template.value, &template.pointer)?,
                    pointer: template.pointer.clone(),
                    step: index,
                    is_singleton: template.is_singleton,
                });
            }
            for check in &step.checks {
                let check = self.check(index, check)?;
                processed.checks.push(check);
            }
        }
        Ok(processed)
    }

    fn check(&mut self, step: usize, check: &ReadinessCheck) -> Result<Check, ProcessError> {
        let (object, pointer) = &check.object;
        let object = self.rendered(&Value::from(object.as_str()), pointer)?;
        let object = object.as_str().ok_or_else(|| ProcessError::Check {
            pointer: pointer.clone(),
            field: "name",
            found: object.to_string(),
        })?;
        let namespace = match &check.namespace {
            Some((text, pointer)) => self.rendered(&Value::from(text.as_str()), pointer)?,
            None => Value::Null,
        };
        Ok(Check {
            step,
            name: check.name.clone(),
            timeout: check.timeout,
            api_version: check.api_version.clone(),
            kind: check.kind.clone(),
            namespace: namespace.as_str().map(str::to_owned),
            object: object.to_owned(),
            condition: check.condition.clone(),
            status: check.status.clone(),
        })
    }

    fn outputs(&mut self) -> Map<String, Value> {
        let (key, name) = match self.action {
            Action::Instance => (DASHBOARD, "dashboard_url"),
            Action::Binding => (CREDENTIALS, "credentials"),
        };
        let value = self.get(key).map(|value| (name.to_owned(), value));
        value.into_iter().collect()
    }

    /// What the next run takes from this one. A value that is a part of an object's name is not a secret: a list of the
    /// cluster's objects shows it.
    fn used(&mut self, entries: &[Entry], objects: &[PlacedObject]) -> Vec<Used> {
        let names = objects
            .iter()
            .filter_map(|object| object.value["metadata"]["name"].as_str());
        let names: Vec<&str> = names.collect();
        let is_public = |value: &Value| {
            let text = value.as_str().unwrap_or_default();
            !text.is_empty() && names.iter().any(|name| name.contains(text))
        };
        let keys: Vec<(String, Value)> = entries
            .iter()
            .filter_map(|entry| Some((entry.key.clone(), self.get(&entry.key)?)))
            .collect();
        let public: BTreeSet<&str> = keys
            .iter()
            .filter(|(_, value)| is_public(value))
            .map(|(key, _)| key.as_str())
            .collect();
        let mut used: BTreeMap<String, Used> = BTreeMap::new();
        for (key, value) in &keys {
            let roots = self.ledger.roots(key);
            let is_secret = roots.iter().any(|root| !public.contains(root.as_str()));
            let secret = value.is_string() && is_secret && !is_public(value);
            used.insert(key.clone(), made(key, value, secret));
        }
        for (name, value) in self.ledger.generated() {
            let secret = !is_public(&value);
            used.insert(name.clone(), made(&name, &value, secret));
        }
        let inherited = self
            .kept
            .iter()
            .filter(|(name, _)| name.starts_with(INHERITED));
        used.extend(
            inherited.map(|(name, kept)| (name.clone(), made(name, &kept.value, kept.secret))),
        );
        used.into_values().collect()
    }
}

fn made(name: &str, value: &Value, secret: bool) -> Used {
    Used {
        name: name.to_owned(),
        value: value.clone(),
        secret,
    }
}

/// The place of the attribute that failed: the innermost one.
fn place(failure: &Failure) -> Option<String> {
    let Failure::Template { error, .. } = failure else {
        return None;
    };
    let inner = error.cause.as_deref().and_then(place);
    inner.or_else(|| Some(error.place.as_ref()?.file.clone()))
}
