//! Random objects: usual ones, of which a few have one thing that is unusual or wrong.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use serde_json::{Value, json};

const MOST: usize = 10;

/// One object of a set.
#[derive(Debug, Clone)]
pub struct Made {
    kind: &'static str,
    text: String,
    /// A value at a place of the object: most are faults.
    twist: Option<(&'static str, Value)>,
    /// Whether the object exists, with a field of somebody else.
    exists: bool,
}

pub fn sets() -> impl Strategy<Value = Vec<Made>> {
    let kinds = select(vec![
        "ConfigMap",
        "ConfigMap",
        "Secret",
        "Secret",
        "ServiceAccount",
        "Service",
        "PersistentVolumeClaim",
    ]);
    let twist = prop_oneof![3 => Just(None), 2 => select(twists()).prop_map(Some)];
    let made = (kinds, "[a-z ü\n\"{]{0,8}", twist, any::<u8>());
    let made = made.prop_map(|(kind, text, twist, there)| Made {
        kind,
        text,
        twist,
        exists: there < 32,
    });
    vec(made, 1..MOST)
}

fn twists() -> Vec<(&'static str, Value)> {
    let long = |bytes: usize| json!("x".repeat(bytes));
    vec![
        ("/data/text", json!(1)),
        ("/data/text", json!(null)),
        ("/data/text", json!("\u{7f}")),
        ("/data/text", json!("\u{2028}")),
        ("/data/text", long(130 * 1024)),
        ("/data/text", long(1100 * 1024)),
        ("/data/two words", json!("x")),
        ("/data/..", json!("x")),
        ("/data", json!("x")),
        ("/dta", json!({"text": "x"})),
        ("/binaryData/b", json!("!")),
        ("/binaryData/b", json!("AQ==")),
        ("/binaryData/text", json!("AQ==")),
        ("/immutable", json!(true)),
        ("/immutable", json!("yes")),
        ("/type", json!("Opaque")),
        ("/type", json!("kubernetes.io/dockerconfigjson")),
        ("/type", json!("kubernetes.io/service-account-token")),
        ("/type", json!("kubernetes.io/tls")),
        ("/type", json!("kubernetes.io/basic-auth")),
        ("/type", json!(5)),
        ("/stringData/text", json!(5)),
        ("/stringData/two words", json!("x")),
        ("/stringData/text", long(1100 * 1024)),
        ("/metadata/name", json!("Upper")),
        ("/metadata/name", json!("dot.ted")),
        ("/metadata/name", json!("under_score")),
        ("/metadata/name", long(60)),
        ("/metadata/name", long(200)),
        ("/metadata/labels/app", json!("two words")),
        ("/metadata/labels/two words", json!("x")),
        ("/metadata/annotations/note", json!(1)),
        ("/metadata/annotations/note", long(130 * 1024)),
        ("/metadata/annotations/note", long(300 * 1024)),
        ("/metadata/annotations/two words", json!("x")),
        ("/metadata/finalizers", json!(["x"])),
        ("/metadata/namespace", json!("nowhere-at-all")),
        ("/secrets", json!([{"name": 1}])),
        ("/automountServiceAccountToken", json!("x")),
        ("/spec/ports/0/port", json!(99999)),
        ("/spec/resources/requests/storage", json!("1Gb")),
        ("/spec/accessModes", json!([])),
    ]
}

/// Puts the value at the place, and makes what is missing on the way.
fn put(object: &mut Value, place: &str, value: &Value) {
    let place = place.trim_start_matches('/');
    let (first, rest) = place.split_once('/').unwrap_or((place, ""));
    let inner = match first.parse::<usize>() {
        Ok(index) => object.get_mut(index),
        Err(_) => object
            .as_object_mut()
            .map(|map| map.entry(first).or_insert_with(|| json!({}))),
    };
    match inner {
        Some(inner) if rest.is_empty() => *inner = value.clone(),
        Some(inner) => put(inner, rest, value),
        None => {}
    }
}

impl Made {
    pub fn plain(&self) -> Value {
        let metadata = json!({"labels": {"app": "x"}, "annotations": {"note": self.text}});
        let content = match self.kind {
            "ConfigMap" => json!({"data": {"text": self.text}}),
            "Secret" => json!({"stringData": {"text": self.text}}),
            "Service" => json!({"spec": {"selector": {"app": "x"}, "ports": [{"port": 80}]}}),
            "PersistentVolumeClaim" => {
                json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
            }
            _ => json!({}),
        };
        let mut object = json!({"apiVersion": "v1", "kind": self.kind, "metadata": metadata});
        object
            .as_object_mut()
            .unwrap()
            .extend(content.as_object().unwrap().clone());
        object
    }

    /// Another name or namespace is not that of the object which exists.
    pub fn is_there(&self) -> bool {
        let place = self.twist.as_ref().map_or("", |(place, _)| place);
        self.exists && !place.starts_with("/metadata/")
    }

    pub fn properties(&self, name: &str) -> Value {
        let mut object = self.plain();
        object["metadata"]["name"] = json!(name);
        if let Some((place, value)) = &self.twist {
            put(&mut object, place, value);
        }
        // Each object has a name of its own.
        if let Some(("/metadata/name", Value::String(twisted))) = &self.twist {
            object["metadata"]["name"] = json!(format!("{twisted}-{name}"));
        }
        object
    }
}
