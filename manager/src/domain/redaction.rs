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
    }

    /// Redacts a manifest for a caller, including the list of its secrets.
    pub fn expansion(&self, expansion: &mut Expansion) {
        expansion.secrets.clear();
        self.configuration(&mut expansion.expanded_config);
        self.layout(&mut expansion.layout);
        self.outputs(&mut expansion.outputs);
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
            self.nodes(node.resources.as_deref_mut().unwrap_or_default());
        }
    }

    pub fn outputs(&self, outputs: &mut [Output]) {
        for output in outputs {
            self.redactor.value(&mut output.value);
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
mod tests {
    use serde_json::json;

    use super::*;

    fn expansion() -> Expansion {
        serde_json::from_value(json!({
            "expandedConfig": {"resources": [
                {"name": "db", "type": "Pod", "properties": {
                    "metadata": {"name": "db", "labels": {"app": "postgres"}},
                    "env": [{"value": "postgres://u:hunter2@db"}, {"value": "1"}, {"value": "postgres"}]}},
                {"name": "key", "type": "v1:Secret", "properties": {
                    "metadata": {"name": "key"}, "stringData": {"a": "x"}, "data": {"b": "bW9yZS1zZWNyZXQ="}}},
                {"name": "map", "type": "ConfigMap", "properties": {"data": {"c": "more-secret is in it"}}},
            ]},
            "layout": {"resources": [
                {"name": "app", "type": "app.py", "properties": {"password": "hunter2", "pin": 1, "name": "postgres", "open": true},
                 "resources": [{"name": "postgres", "type": "Pod"}]},
            ]},
            "outputs": [{"name": "url", "value": "postgres://u:hunter2@db"}],
            "secrets": [
                {"path": "$.resources[0]", "pointer": "/password", "value": "hunter2"},
                {"path": "$.resources[0]", "pointer": "/pin", "value": 1},
                {"path": "$.resources[0]", "pointer": "/name", "value": "postgres"},
                {"path": "$.resources[0]", "pointer": "/open", "value": true},
            ],
        }))
        .unwrap()
    }

    fn redaction() -> Redaction {
        Redaction::new(secrets_of(&expansion()))
    }

    #[test]
    fn an_expansion_is_told_without_its_secrets() {
        let mut reported = expansion();
        redaction().expansion(&mut reported);
        let reported = serde_json::to_value(reported).unwrap();
        let resources = &reported["expandedConfig"]["resources"];
        let env = &resources[0]["properties"]["env"];
        assert_eq!(
            *env,
            json!([{"value": "postgres://u:(redacted)@db"}, {"value": "1"}, {"value": "postgres"}])
        );
        assert_eq!(
            resources[0]["properties"]["metadata"]["labels"]["app"],
            "postgres"
        );
        let secret = json!({"metadata": {"name": "key"}, "stringData": {"a": REDACTED}, "data": {"b": REDACTED}});
        assert_eq!(resources[1]["properties"], secret);
        assert_eq!(
            resources[2]["properties"]["data"]["c"],
            "(redacted) is in it"
        );
        assert_eq!(
            reported["layout"]["resources"][0]["properties"],
            json!({"password": REDACTED, "pin": REDACTED, "name": REDACTED, "open": REDACTED})
        );
        assert_eq!(
            reported["outputs"][0]["value"],
            "postgres://u:(redacted)@db"
        );
        assert_eq!(reported.get("secrets"), None);
    }

    #[test]
    fn a_configuration_is_told_as_it_was_written_but_for_its_secrets() {
        let redaction = redaction();
        let reported = redaction.content(
            "# hunter2 is mine\nresources:\n- name: app   # the app\n  type: app.py\n  properties:\n    \
             password: \"hun\\u0074er2\"\n    pin: 1\n    open: yes\n    name: postgres\n- {name: k, type: Secret, properties: {data: {a: eA==}}}\n",
        );
        assert_eq!(
            reported,
            "# (redacted) is mine\nresources:\n- name: app   # the app\n  type: app.py\n  properties:\n    \
             password: (redacted)\n    pin: (redacted)\n    open: (redacted)\n    name: (redacted)\n\
             - {name: k, type: Secret, properties: {data: {a: (redacted)}}}\n"
        );
    }

    #[test]
    fn a_configuration_that_cannot_be_changed_in_place_is_told_as_it_was_read() {
        let redaction = redaction();
        let reported = redaction.content(
            "resources: [{name: app, type: app.py, properties: {password: !!str hunter2, pin: !!int 1}}]",
        );
        assert!(
            reported.contains("pin: (redacted)") && !reported.contains("hunter2"),
            "{reported}"
        );
        assert_eq!(redaction.content("a: ["), REDACTED);
    }

    #[test]
    fn what_stands_for_a_secret_is_known_when_it_comes_back() {
        assert_eq!(given_back(&expansion()), None);
        let mut own = expansion();
        own.secrets[0].value = json!({"in": [REDACTED]});
        assert_eq!(
            given_back(&own).as_deref(),
            Some("$.resources[0].properties/password")
        );
        let mut passed_on = expansion();
        passed_on.expanded_config.resources[2].properties =
            Some(json!({"data": {"c": "x (redacted)"}}));
        assert_eq!(given_back(&passed_on).as_deref(), Some("resource 'map'"));
    }
}
