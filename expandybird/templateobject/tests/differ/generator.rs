//! Random Templates in OpenShift's dialect.
//!
//! What is left out is known to differ, and `expandybird/COMPATIBILITY.md` says why: nulls and integers beyond 2^53 of
//! `${{P}}`, such references in keys and labels of objects, empty namespaces, values that have references, and parameters
//! that are declared twice.

use fastrand::Rng;
use serde_json::{Map, Value, json};

const NAMES: [&str; 5] = ["A", "B_2", "c", "LONG_NAME", "Z9"];
const VALUES: [&str; 16] = [
    "",
    "x",
    "web",
    "0",
    "1",
    "-12",
    "1.5",
    "007",
    "true",
    "false",
    "\"q\"",
    "{\"a\":[1,true]}",
    "[1,\"b\"]",
    "a b$",
    "é\n",
    "{",
];
const EXPRESSIONS: [&str; 7] = [
    "[a-z]{4}",
    "user[A-Z0-9]{3}",
    "[\\w]{50}",
    "[\\a\\d]{2}-[a-f]{1}",
    "plain",
    "[abc]{3}",
    "[a-z]{300}",
];
const KINDS: [(&str, &str); 14] = [
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("apps/v1", "Deployment"),
    ("v1", "DeploymentConfig"),
    ("v1", "Route"),
    ("v1", "RoleBinding"),
    ("v1", "BuildRequest"),
    ("v1", "ImageStreamImport"),
    ("v1", "AppliedClusterResourceQuota"),
    ("v1", "PodSecurityPolicyReview"),
    ("v1", "NetNamespace"),
    ("v1beta3", "OAuthClient"),
    ("route.openshift.io/v1", "RouteList"),
    ("example.com/v1", "Thing"),
];
const TEXTS: [&str; 6] = ["", "text", "$", "${", "}}", "$(A)"];

pub struct Generator(Rng);

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub fn template(&mut self) -> Value {
        let count = self.0.usize(..4);
        let objects: Vec<Value> = (0..count).map(|_| self.object()).collect();
        let mut names = NAMES.to_vec();
        self.0.shuffle(&mut names);
        names.truncate(self.0.usize(1..=NAMES.len()));
        let parameters: Vec<Value> = names.into_iter().map(|name| self.parameter(name)).collect();
        let mut template = json!({
            "kind": "Template", "apiVersion": "template.openshift.io/v1", "metadata": {"name": "t"},
            "parameters": parameters, "objects": objects,
        });
        if self.0.bool() {
            template["message"] = Value::from(self.text());
        }
        if self.0.bool() {
            let value = self.text();
            template["labels"] = json!({"app": value});
        }
        template
    }

    fn parameter(&mut self, name: &str) -> Value {
        let mut parameter = json!({"name": name});
        if self.0.u8(..3) > 0 {
            parameter["value"] = json!(self.pick(&VALUES));
        }
        if self.0.u8(..4) == 0 {
            parameter["generate"] = json!(if self.0.u8(..8) == 0 {
                "other"
            } else {
                "expression"
            });
            parameter["from"] = json!(self.pick(&EXPRESSIONS));
        }
        if self.0.u8(..4) == 0 {
            parameter["required"] = json!(true);
        }
        parameter
    }

    fn object(&mut self) -> Value {
        let (version, kind) = KINDS[self.0.usize(..KINDS.len())];
        let mut metadata = json!({"name": self.text()});
        match self.0.u8(..4) {
            0 => metadata["namespace"] = json!("fixed"),
            1 => metadata["namespace"] = json!(format!("n{}", self.text())),
            _ => (),
        }
        if self.0.bool() {
            let label = format!("l{}", self.text());
            metadata["labels"] = json!({"app": label, "own": label});
        }
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        for key in ["spec", "data"] {
            if self.0.bool() {
                object[key] = self.value(3);
            }
        }
        object
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.0.u8(..if depth == 0 { 4 } else { 7 }) {
            0 => json!(self.0.i32(..)),
            1 => json!(self.0.bool()),
            2 | 3 => Value::from(self.text()),
            4 => (0..self.0.usize(..3))
                .map(|_| self.value(depth - 1))
                .collect(),
            _ => {
                let entries = (0..self.0.usize(..4)).map(|_| (self.key(), self.value(depth - 1)));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    fn key(&mut self) -> String {
        // Keys that become the same one are replaced in a random order by Go.
        let (name, number) = (self.pick(&NAMES), self.0.u32(..));
        match self.0.bool() {
            true => format!("${{{name}}}-{number}"),
            false => format!("key{number}"),
        }
    }

    /// Text with references of both kinds, to parameters that may not be declared.
    fn text(&mut self) -> String {
        let name = self.pick(&NAMES);
        if self.0.u8(..4) == 0 {
            return format!("${{{{{name}}}}}");
        }
        let parts = (0..self.0.usize(..4)).map(|_| {
            let name = self.pick(&NAMES);
            match self.0.u8(..4) {
                0 => self.pick(&TEXTS).to_owned(),
                1 => format!("${{{{{name}}}}}"),
                2 => format!("${{ {name} }}"),
                _ => format!("${{{name}}}"),
            }
        });
        parts.collect()
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.0.usize(..all.len())]
    }
}
