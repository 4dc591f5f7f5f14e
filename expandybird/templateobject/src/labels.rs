//! The labels of a Template, on its objects.
//!
//! OpenShift's dialect adds them to the object's own labels only. The proposal's adds them to selectors and to the pods
//! that they select, so that two instances of one Template with different labels do not select each other's pods.

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::template::annotation;

/// The annotation, on a Template or an object, that leaves selectors as they are.
const KEEP_SELECTORS: &str = "deployment-manager.dev/label-selectors";

/// Where the pods of a kind get their labels, and where the kind selects them.
struct Row {
    kinds: &'static [&'static str],
    /// What has the labels: the path of something with a `metadata`.
    labelled: &'static [&'static [&'static str]],
    selector: Option<Selector>,
}

struct Selector {
    path: &'static [&'static str],
    condition: Condition,
}

/// When labels are added to a selector.
enum Condition {
    /// It has a label already: nothing selects by no label on purpose.
    NotEmpty,
    /// What holds it is there.
    Holder,
    /// The Job says that it selects its pods itself.
    Manual,
}

const TABLE: &[Row] = &[
    Row {
        kinds: &["Service"],
        labelled: &[],
        selector: Some(Selector {
            path: &["spec", "selector"],
            condition: Condition::NotEmpty,
        }),
    },
    Row {
        kinds: &["ReplicationController", "DeploymentConfig"],
        labelled: &[&["spec", "template"]],
        selector: Some(Selector {
            path: &["spec", "selector"],
            condition: Condition::NotEmpty,
        }),
    },
    Row {
        kinds: &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"],
        labelled: &[&["spec", "template"]],
        selector: Some(Selector {
            path: &["spec", "selector", "matchLabels"],
            condition: Condition::Holder,
        }),
    },
    Row {
        kinds: &["Job"],
        labelled: &[&["spec", "template"]],
        selector: Some(Selector {
            path: &["spec", "selector", "matchLabels"],
            condition: Condition::Manual,
        }),
    },
    Row {
        kinds: &["CronJob"],
        labelled: &[
            &["spec", "jobTemplate"],
            &["spec", "jobTemplate", "spec", "template"],
        ],
        selector: None,
    },
    Row {
        kinds: &["PodTemplate"],
        labelled: &[&["template"]],
        selector: None,
    },
    Row {
        kinds: &["PodDisruptionBudget"],
        labelled: &[],
        selector: Some(Selector {
            path: &["spec", "selector", "matchLabels"],
            condition: Condition::NotEmpty,
        }),
    },
    Row {
        kinds: &["NetworkPolicy"],
        labelled: &[],
        selector: Some(Selector {
            path: &["spec", "podSelector", "matchLabels"],
            condition: Condition::NotEmpty,
        }),
    },
];

/// The labels of a Template, with their values.
#[derive(Debug)]
pub struct Labels {
    pub all: Vec<(String, String)>,
    pub dialect: Dialect,
    /// Selectors of all objects stay as they are.
    pub keep_selectors: bool,
}

/// Whether a `metadata` has the annotation that keeps selectors.
pub fn keeps_selectors(metadata: Option<&Value>) -> bool {
    annotation(metadata, KEEP_SELECTORS) == Some("false")
}

/// The same for an object, which loses the annotation: no object in a cluster may have one of Deployment Manager's.
fn takes_annotation(object: &mut Map<String, Value>) -> bool {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(metadata) = metadata else {
        return false;
    };
    let annotations = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut);
    let Some(annotations) = annotations else {
        return false;
    };
    let taken = annotations.shift_remove(KEEP_SELECTORS);
    if taken.is_some() && annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
    taken.is_some_and(|value| value == "false")
}

impl Labels {
    /// The reason, where an object cannot have labels.
    pub fn apply(&self, object: &mut Map<String, Value>) -> Result<(), String> {
        let keep = self.keep_selectors || takes_annotation(object);
        if self.all.is_empty() {
            return Ok(());
        }
        if is_list(object) {
            let reason = "label could not be applied: a list has no labels; write its items as objects of the Template";
            return Err(reason.to_owned());
        }
        self.label(object)?;
        if self.dialect == Dialect::OpenShift {
            return Ok(());
        }
        let kind = object
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let Some(row) = TABLE.iter().find(|row| row.kinds.contains(&kind)) else {
            return Ok(());
        };
        for path in row.labelled {
            if let Some(holder) = at(object, path) {
                self.label(holder)?;
            }
        }
        match &row.selector {
            Some(selector) if !keep => self.select(object, selector),
            _ => Ok(()),
        }
    }

    fn label(&self, holder: &mut Map<String, Value>) -> Result<(), String> {
        let metadata = made(holder, "metadata")?;
        self.put(made(metadata, "labels")?);
        Ok(())
    }

    fn select(&self, object: &mut Map<String, Value>, selector: &Selector) -> Result<(), String> {
        let Some((last, above)) = selector.path.split_last() else {
            return Ok(());
        };
        let manual = object
            .get("spec")
            .and_then(|spec| spec.get("manualSelector"));
        let is_manual = manual == Some(&Value::Bool(true));
        let Some(holder) = at(object, above) else {
            return Ok(());
        };
        let labels = holder.get(*last).and_then(Value::as_object);
        let is_wanted = match selector.condition {
            Condition::NotEmpty => labels.is_some_and(|labels| !labels.is_empty()),
            Condition::Holder => true,
            Condition::Manual => is_manual,
        };
        if is_wanted {
            self.put(made(holder, last)?);
        }
        Ok(())
    }

    fn put(&self, labels: &mut Map<String, Value>) {
        for (key, value) in &self.all {
            labels.insert(key.clone(), Value::from(value.as_str()));
        }
    }
}

/// Its items become objects of their own, without what stands around them.
fn is_list(object: &Map<String, Value>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.ends_with("List"))
        && object.get("items").is_some_and(Value::is_array)
}

/// The map at a path, if there is one.
fn at<'a>(map: &'a mut Map<String, Value>, path: &[&str]) -> Option<&'a mut Map<String, Value>> {
    path.iter()
        .try_fold(map, |map, key| map.get_mut(*key)?.as_object_mut())
}

/// The map of a key, made where there is none.
fn made<'a>(
    map: &'a mut Map<String, Value>,
    key: &str,
) -> Result<&'a mut Map<String, Value>, String> {
    let value = map.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let found = value.as_object_mut();
    found.ok_or_else(|| format!("label could not be applied: {key} is not a map"))
}
