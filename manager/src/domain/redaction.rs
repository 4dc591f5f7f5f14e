//! The parts of a deployment that are redacted for callers: values that schemas mark as secret, and the values of
//! Kubernetes Secrets.
//!
//! A secret is redacted at its own place and wherever else it occurs, because templates copy passwords into
//! environments, URLs and configuration files. Names are not secret: a password that equals the deployment's name is
//! redacted only at its own place.

mod input;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::api::deployer::{ObjectStatus, ResourceDiff, ResourceReport};
use common::api::error::ErrorBody;
use common::api::manager::Expansion;
use common::kubernetes_secret;
use common::model::{Configuration, Layout, Manifest, Output, Resource, SecretValue};
use common::redact::{REDACTED, Redactor};
use serde_json::Value;

/// All secrets of an expansion: those that its schemas mark, and the values of its Secrets.
pub fn secrets_of(expansion: &Expansion) -> Vec<SecretValue> {
    let marked = expansion.secrets.iter().cloned();
    let mut secrets: Vec<_> = marked
        .chain(of_secrets(&expansion.expanded_config))
        .collect();
    let names = names(expansion);
    for secret in &mut secrets {
        without_names(&mut secret.value, &names);
    }
    secrets
}

/// The values of Kubernetes Secrets.
pub fn of_secrets(configuration: &Configuration) -> Vec<SecretValue> {
    let values = configuration.resources.iter().flat_map(|resource| {
        kubernetes_secret::values(resource.type_name.as_str(), resource.properties.as_ref())
    });
    values
        .map(|value| SecretValue {
            path: Default::default(),
            pointer: String::new(),
            value: value.clone(),
        })
        .collect()
}

fn is_secret(resource: &Resource) -> bool {
    kubernetes_secret::is_one(resource.type_name.as_str(), resource.properties.as_ref())
}

/// Words that everybody can see.
fn names(expansion: &Expansion) -> BTreeSet<&str> {
    let nodes = expansion.layout.walk().into_iter();
    let nodes = nodes.flat_map(|(_, node)| [node.name.as_str(), node.type_name.as_str()]);
    let resources = expansion.expanded_config.resources.iter();
    let objects = resources.filter_map(|resource| resource.properties.as_ref());
    let named = ["/kind", "/metadata/name", "/metadata/namespace"];
    let objects = objects.flat_map(|object| named.map(|pointer| object.pointer(pointer)));
    nodes
        .chain(objects.flatten().filter_map(Value::as_str))
        .collect()
}

fn without_names(value: &mut Value, names: &BTreeSet<&str>) {
    match value {
        Value::String(text) if names.contains(text.as_str()) => *value = Value::Null,
        Value::Array(items) => items.iter_mut().for_each(|one| without_names(one, names)),
        Value::Object(map) => map.values_mut().for_each(|one| without_names(one, names)),
        _ => {}
    }
}

/// The resource with the placeholder of a secret among its properties: the caller sent back a redacted answer.
pub fn given_back(expansion: &Expansion) -> Option<String> {
    let marked = expansion
        .secrets
        .iter()
        .find(|secret| mentions(&secret.value));
    let marked = marked.map(|secret| format!("{}.properties{}", secret.path, secret.pointer));
    marked.or_else(|| {
        let mut resources = expansion.expanded_config.resources.iter();
        let has = |one: &&Resource| one.properties.as_ref().is_some_and(mentions);
        resources
            .find(has)
            .map(|one| format!("resource '{}'", one.name))
    })
}

fn mentions(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(items) => items.iter().any(mentions),
        Value::Object(map) => map.values().any(mentions),
        _ => false,
    }
}

/// Redacts the secrets of some manifests.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    secrets: Arc<Vec<SecretValue>>,
    redactor: Arc<Redactor>,
}

impl Redaction {
    pub fn new(secrets: Vec<SecretValue>) -> Self {
        let redactor = Redactor::new(secrets.iter().map(|secret| &secret.value));
        Self {
            secrets: Arc::new(secrets),
            redactor: Arc::new(redactor),
        }
    }

    /// Whether there is nothing to redact.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    pub fn manifest(&self, manifest: &mut Manifest) {
        if let Some(preview) = &mut manifest.preview {
            self.diffs(&mut preview.resources);
        }
        if self.is_empty() {
            return;
        }
        self.input(&mut manifest.input_config);
        self.configuration(&mut manifest.expanded_config);
        self.layout(&mut manifest.layout);
        self.outputs(&mut manifest.outputs);
        self.notes(&mut manifest.notes);
    }

    /// Redacts a manifest for a caller, including the list of its secrets.
    pub fn expansion(&self, expansion: &mut Expansion) {
        expansion.secrets.clear();
        expansion.values.clear();
        self.configuration(&mut expansion.expanded_config);
        self.layout(&mut expansion.layout);
        self.outputs(&mut expansion.outputs);
        self.notes(&mut expansion.notes);
        self.texts(&mut expansion.warnings);
        let instances = expansion.instance_outputs.iter_mut();
        for output in instances.flat_map(|instance| &mut instance.outputs) {
            self.redactor.string(&mut output.name);
        }
    }

    fn configuration(&self, configuration: &mut Configuration) {
        for resource in &mut configuration.resources {
            let is_secret = is_secret(resource);
            let Some(properties) = &mut resource.properties else {
                continue;
            };
            for field in kubernetes_secret::FIELDS.iter().filter(|_| is_secret) {
                properties.pointer_mut(field).map(hide);
            }
            self.redactor.value(properties);
        }
        self.outputs(&mut configuration.outputs);
    }

    /// Redacts this layout's secrets at their places, and all others wherever they occur.
    pub fn layout(&self, layout: &mut Layout) {
        for secret in self.secrets.iter() {
            let node = layout.at_mut(&secret.path);
            let properties = node.and_then(|node| node.properties.as_mut());
            properties
                .and_then(|properties| properties.pointer_mut(&secret.pointer))
                .map(hide);
        }
        self.nodes(&mut layout.resources);
    }

    fn nodes(&self, nodes: &mut [common::model::LayoutNode]) {
        for node in nodes {
            if let Some(properties) = &mut node.properties {
                self.redactor.value(properties);
            }
            if let Some(message) = &mut node.message {
                self.redactor.string(message);
            }
            self.nodes(node.resources.as_deref_mut().unwrap_or_default());
        }
    }

    pub fn outputs(&self, outputs: &mut [Output]) {
        for output in outputs {
            self.redactor.value(&mut output.value);
        }
    }

    pub fn notes(&self, notes: &mut Option<String>) {
        if let Some(notes) = notes {
            self.redactor.string(notes);
        }
    }

    /// What would happen to objects, redacted for the caller. Digests of fields are removed: they could be used to
    /// check guesses of a secret that only the cluster knows.
    pub fn diffs(&self, diffs: &mut [ResourceDiff]) {
        for diff in diffs {
            diff.basis.owned = None;
            self.diff(diff);
        }
    }

    /// Like [`Self::diffs`], for one diff that is used further.
    pub fn diff(&self, diff: &mut ResourceDiff) {
        self.redactor.changes(&mut diff.changes);
        self.texts(&mut diff.unknown);
        if let Some(error) = &mut diff.error {
            self.error(error);
        }
    }

    pub fn status(&self, status: &mut ObjectStatus) {
        self.redactor.changes(&mut status.drift);
        if let Some(reason) = &mut status.reason {
            self.redactor.string(reason);
        }
    }

    pub fn value(&self, value: &mut Value) {
        self.redactor.value(value);
    }

    pub fn report(&self, report: &mut ResourceReport) {
        if let Some(reason) = &mut report.reason {
            self.redactor.string(reason);
        }
        if let Some(error) = &mut report.error {
            self.error(error);
        }
    }

    pub fn error(&self, error: &mut ErrorBody) {
        self.redactor.error(error);
    }

    /// Redacts a refusal for the caller.
    pub fn refusal(&self, mut error: Box<ErrorBody>) -> Box<ErrorBody> {
        self.error(&mut error);
        error
    }

    pub fn text(&self, text: &mut String) {
        self.redactor.string(text);
    }

    pub fn texts(&self, texts: &mut [String]) {
        for text in texts {
            self.redactor.string(text);
        }
    }
}

/// Redacts every value. The shape stays.
fn hide(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(map) => map.values_mut().for_each(hide),
        _ => *value = Value::from(REDACTED),
    }
}

#[cfg(test)]
mod tests;
