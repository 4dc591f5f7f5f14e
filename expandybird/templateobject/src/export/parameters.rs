//! Values of objects that become parameters.

use std::collections::HashMap;

use serde_json::{Value, json};

/// Where pods are specified within an object, by kind.
const PODS: [&str; 3] = [
    "/spec/template/spec",
    "/spec/jobTemplate/spec/template/spec",
    "/spec",
];
const CONTAINERS: [&str; 2] = ["initContainers", "containers"];

/// The parameters of a Template that is made.
pub struct Parameters {
    list: Vec<Value>,
    /// All texts of the objects that may hold a reference.
    texts: Vec<String>,
    /// The parameter of each host.
    hosts: HashMap<String, String>,
}

impl Parameters {
    pub fn new(objects: &[Value]) -> Self {
        let mut texts = Vec::new();
        objects
            .iter()
            .for_each(|object| collect(object, &mut texts));
        Self {
            list: Vec::new(),
            texts,
            hosts: HashMap::new(),
        }
    }

    pub fn into_list(self) -> Vec<Value> {
        self.list
    }

    /// The values of a Secret.
    pub fn take_secrets(&mut self, object: &mut Value) {
        if object["kind"] != "Secret" {
            return;
        }
        let owner = name_of(object);
        for field in ["data", "stringData"] {
            let kind = if field == "data" { "base64" } else { "string" };
            let values = object.get_mut(field).and_then(Value::as_object_mut);
            for (key, value) in values.into_iter().flatten() {
                let description = format!("{key} of Secret {owner}");
                let name = self.name(&[&owner, key]);
                *value = json!(format!("$({name})"));
                self.list.push(json!({
                    "name": name, "description": description, "type": kind, "required": true,
                }));
            }
        }
    }

    /// Images, replicas and hosts.
    pub fn take_settings(&mut self, object: &mut Value) {
        let owner = name_of(object);
        if let Some(pods) = pods(object) {
            CONTAINERS
                .iter()
                .for_each(|key| self.take_images(&owner, pods, key));
        }
        if let Some(replicas) = object.pointer_mut("/spec/replicas")
            && replicas.is_u64()
        {
            let name = self.name(&[&owner, "REPLICAS"]);
            self.list
                .push(json!({"name": name, "type": "int", "value": replicas.to_string()}));
            *replicas = json!(format!("$(({name}))"));
        }
        self.take_hosts(&owner, object);
    }

    fn take_images(&mut self, owner: &str, pods: &mut Value, key: &str) {
        let containers = pods.get_mut(key).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            let part = container["name"].as_str().unwrap_or_default().to_owned();
            let Some(image) = container.get_mut("image").filter(|image| image.is_string()) else {
                continue;
            };
            let name = match part == owner {
                true => self.name(&[owner, "IMAGE"]),
                false => self.name(&[owner, &part, "IMAGE"]),
            };
            self.list.push(json!({"name": name, "value": image}));
            *image = json!(format!("$({name})"));
        }
    }

    fn take_hosts(&mut self, owner: &str, object: &mut Value) {
        match object["kind"].as_str() {
            Some("Route") => self.take_host(owner, object.pointer_mut("/spec/host")),
            Some("Ingress") => {
                let rules = object
                    .pointer_mut("/spec/rules")
                    .and_then(Value::as_array_mut);
                for rule in rules.into_iter().flatten() {
                    self.take_host(owner, rule.get_mut("host"));
                }
                let tls = object
                    .pointer_mut("/spec/tls")
                    .and_then(Value::as_array_mut);
                let hosts = tls.into_iter().flatten();
                let hosts = hosts.filter_map(|one| one.get_mut("hosts")?.as_array_mut());
                hosts
                    .flatten()
                    .for_each(|host| self.take_host(owner, Some(host)));
            }
            _ => (),
        }
    }

    /// The same host has the same parameter.
    fn take_host(&mut self, owner: &str, host: Option<&mut Value>) {
        let Some((place, host)) = host.and_then(|place| {
            let host = place.as_str().filter(|host| !host.is_empty())?.to_owned();
            Some((place, host))
        }) else {
            return;
        };
        let name = match self.hosts.get(&host) {
            Some(name) => name.clone(),
            None => {
                let name = self.name(&[owner, "HOST"]);
                self.list.push(json!({"name": name, "value": host}));
                self.hosts.insert(host, name.clone());
                name
            }
        };
        *place = json!(format!("$({name})"));
    }

    /// A name that no parameter has, and that no text of the objects refers to.
    fn name(&self, parts: &[&str]) -> String {
        let plain = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_uppercase(),
            false => '_',
        };
        let joined: String = parts.join("_").chars().map(plain).collect();
        let numbered = (2_usize..).map(|number| format!("{joined}_{number}"));
        let mut names = std::iter::once(joined.clone()).chain(numbered);
        names.find(|name| self.is_free(name)).unwrap_or(joined)
    }

    fn is_free(&self, name: &str) -> bool {
        let references = [format!("$({name})"), format!("$(({name}))")];
        let is_meant = |text: &String| references.iter().any(|one| text.contains(one.as_str()));
        !self.list.iter().any(|one| one["name"] == name) && !self.texts.iter().any(is_meant)
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    let mut add = |text: &String| {
        if text.contains("$(") {
            texts.push(text.clone());
        }
    };
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => {
            map.keys().for_each(&mut add);
            map.values().for_each(|value| collect(value, texts));
        }
        _ => (),
    }
}

fn name_of(object: &Value) -> String {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

/// The specification of an object's pods.
fn pods(object: &mut Value) -> Option<&mut Value> {
    let has_containers = |pods: &Value| pods.get("containers").is_some_and(Value::is_array);
    let pointer = PODS
        .iter()
        .find(|pointer| object.pointer(pointer).is_some_and(has_containers))?;
    object.pointer_mut(pointer)
}
