//! `bindings`: what is made for an instance, and for a binding of it.

use std::collections::BTreeSet;
use std::time::Duration;

use common::node::Node;
use expandybird_sprig::parse_duration;

use crate::registry::check_write;

/// How long a check waits if it does not say so.
const TIMEOUT: Duration = Duration::from_secs(60);
const SCOPES: [&str; 3] = ["BrokerLocal", "InstanceLocal", "Explicit"];

#[derive(Debug)]
pub struct Binding {
    pub name: String,
    /// The names of the service and of its plan.
    pub service: String,
    pub plan: String,
    pub instance: Actions,
    pub binding: Option<Actions>,
    /// Where it stands in the document.
    pub pointer: String,
}

/// What is computed, applied and waited for.
#[derive(Debug, Default)]
pub struct Actions {
    pub registry: Vec<Entry>,
    pub steps: Vec<Step>,
}

/// A value of the registry.
#[derive(Debug)]
pub struct Entry {
    pub key: String,
    pub value: String,
    /// Where the value stands.
    pub pointer: String,
}

#[derive(Debug, Default)]
pub struct Step {
    /// The templates by their names, each with its place.
    pub templates: Vec<(String, String)>,
    pub checks: Vec<ReadinessCheck>,
}

/// A condition of an object that ends a step.
#[derive(Debug)]
pub struct ReadinessCheck {
    pub name: String,
    pub timeout: Duration,
    pub api_version: String,
    pub kind: String,
    /// The type of the condition, and its status.
    pub condition: String,
    pub status: String,
    /// The object's name and namespace, each with its place.
    pub object: (String, String),
    pub namespace: Option<(String, String)>,
}

impl Binding {
    pub fn actions(&self) -> impl Iterator<Item = &Actions> {
        std::iter::once(&self.instance).chain(&self.binding)
    }
}

impl Actions {
    /// All texts that may be dynamic attributes, each with its place.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        let registry = self.registry.iter();
        let registry = registry.map(|entry| (entry.value.as_str(), entry.pointer.as_str()));
        let checks = self.steps.iter().flat_map(|step| &step.checks);
        let checks =
            checks.flat_map(|check| std::iter::once(&check.object).chain(&check.namespace));
        registry.chain(checks.map(|(text, pointer)| (text.as_str(), pointer.as_str())))
    }

    pub fn is_empty(&self) -> bool {
        self.registry.is_empty() && self.steps.iter().all(|step| step.templates.is_empty())
    }
}

pub fn read(spec: &Node<'_>) -> Vec<Binding> {
    let mut names = BTreeSet::new();
    let entries = spec.some_objects("bindings");
    let bindings = entries.iter().map(|entry| {
        let name = entry.required("name");
        if !name.is_empty() && !names.insert(name.clone()) {
            entry.fault("name", "another binding has this name");
        }
        let scope = entry.one_of("registryScope", &SCOPES);
        if scope == Some("Explicit") {
            entry.required("registryNamespace");
        }
        Binding {
            name,
            service: entry.required("service"),
            plan: entry.required("plan"),
            instance: entry
                .required_object("serviceInstance")
                .map(|node| actions(&node))
                .unwrap_or_default(),
            binding: entry.object("serviceBinding").map(|node| actions(&node)),
            pointer: entry.pointer.clone(),
        }
    });
    bindings.collect()
}

fn actions(entry: &Node<'_>) -> Actions {
    let registry = entry.objects("registry").unwrap_or_default();
    Actions {
        registry: registry.iter().map(registry_entry).collect(),
        steps: steps(entry),
    }
}

fn registry_entry(entry: &Node<'_>) -> Entry {
    let key = entry.required("name");
    if !key.is_empty()
        && let Err(error) = check_write(&key)
    {
        entry.fault("name", error.to_string());
    }
    Entry {
        key,
        value: entry.required("value"),
        pointer: entry.pointer_of("value"),
    }
}

/// The steps, or the one step that is written without `steps`.
fn steps(entry: &Node<'_>) -> Vec<Step> {
    let Some(steps) = entry.objects("steps") else {
        return vec![step(entry)];
    };
    for key in ["templates", "readinessChecks"] {
        if entry.value(key).is_some() {
            entry.fault(
                key,
                format!("{key} and steps exclude each other: move {key} into a step"),
            );
        }
    }
    let steps = steps.iter().map(|node| {
        node.required("name");
        step(node)
    });
    let steps: Vec<_> = steps.collect();
    if let Some(first) = steps.iter().position(|step| !step.templates.is_empty())
        && steps[..first].iter().any(|step| !step.checks.is_empty())
    {
        let message = "a check waits for what was made before it: add templates to its step";
        entry.fault("steps", message);
    }
    steps
}

fn step(entry: &Node<'_>) -> Step {
    let names = entry.texts("templates").into_iter().enumerate();
    let templates = names.map(|(index, name)| {
        let pointer = format!("{}/{index}", entry.pointer_of("templates"));
        (name, pointer)
    });
    let checks = entry.objects("readinessChecks").unwrap_or_default();
    Step {
        templates: templates.collect(),
        checks: checks.iter().filter_map(check).collect(),
    }
}

fn check(entry: &Node<'_>) -> Option<ReadinessCheck> {
    let name = entry.required("name");
    let timeout = timeout(entry);
    let condition = entry.required_object("condition")?;
    let placed = |key: &str, text: String| (text, condition.pointer_of(key));
    Some(ReadinessCheck {
        name,
        timeout,
        api_version: condition.required("apiVersion"),
        kind: condition.required("kind"),
        condition: condition.required("type"),
        status: condition.required("status"),
        object: placed("name", condition.required("name")),
        namespace: condition
            .text("namespace")
            .map(|text| placed("namespace", text)),
    })
}

/// A duration as Go writes it.
fn timeout(entry: &Node<'_>) -> Duration {
    let Some(text) = entry.text("timeout") else {
        return TIMEOUT;
    };
    let parsed = parse_duration(&text);
    let parsed = parsed.map(|nanoseconds| u64::try_from(nanoseconds).unwrap_or_default());
    match parsed {
        Ok(0) => entry.fault("timeout", "it must be longer than nothing, such as 1m"),
        Ok(nanoseconds) => return Duration::from_nanos(nanoseconds),
        Err(reason) => entry.fault("timeout", reason),
    }
    TIMEOUT
}
