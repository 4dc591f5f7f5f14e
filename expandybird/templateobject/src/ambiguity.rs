//! `$(X)` in a container, where X is a parameter and an environment variable: nobody can say which is meant.
//!
//! Only in the fields in which Kubernetes replaces variables itself: `command`, `args`, `env[].value`, and
//! `volumeMounts[].subPathExpr`. `$$(X)` means the variable.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::field::Field;
use crate::reference::{Piece, proposal};

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The names of parameters, and what was found.
pub struct Check<'p> {
    pub declared: &'p HashSet<&'p str>,
    pub faults: Vec<Fault>,
}

impl Check<'_> {
    /// Looks for containers anywhere in an object. Recurses as deep as the object.
    pub fn value(&mut self, value: &Value, field: &Field) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| holds(item)) {
                    self.value(item, &field.index(index));
                }
            }
            Value::Object(map) => {
                for (key, value) in map.iter().filter(|(_, value)| holds(value)) {
                    let field = field.key(key);
                    let is_list = CONTAINERS.contains(&key.as_str());
                    match value.as_array().filter(|_| is_list) {
                        Some(containers) => self.containers(containers, &field),
                        None => self.value(value, &field),
                    }
                }
            }
            _ => {}
        }
    }

    fn containers(&mut self, containers: &[Value], field: &Field) {
        for (index, container) in containers.iter().enumerate() {
            if let Value::Object(container) = container {
                self.container(container, &field.index(index));
            }
        }
    }

    fn container(&mut self, container: &Map<String, Value>, field: &Field) {
        let name = container.get("name").and_then(Value::as_str);
        let name = name.unwrap_or_default();
        let list = |key: &str| container.get(key).and_then(Value::as_array);
        let mut visible: HashSet<&str> = HashSet::new();
        for (index, entry) in list("env").into_iter().flatten().enumerate() {
            let field = field.key("env").index(index).key("value");
            // An entry sees those before it.
            self.text(entry.get("value"), &visible, &field, name);
            visible.extend(entry.get("name").and_then(Value::as_str));
        }
        for key in ["command", "args"] {
            for (index, text) in list(key).into_iter().flatten().enumerate() {
                let field = field.key(key).index(index);
                self.text(Some(text), &visible, &field, name);
            }
        }
        for (index, mount) in list("volumeMounts").into_iter().flatten().enumerate() {
            let field = field.key("volumeMounts").index(index).key("subPathExpr");
            self.text(mount.get("subPathExpr"), &visible, &field, name);
        }
    }

    fn text(
        &mut self,
        text: Option<&Value>,
        visible: &HashSet<&str>,
        field: &Field,
        container: &str,
    ) {
        let Some(text) = text.and_then(Value::as_str) else {
            return;
        };
        for piece in proposal::pieces(text, |name| self.declared.contains(name)) {
            let Piece::Reference {
                name,
                unquoted: false,
            } = piece
            else {
                continue;
            };
            if visible.contains(name) {
                let detail = format!(
                    "ambiguous: {name} is both a template parameter and an environment variable of container {container:?}; write $$({name}) for the variable"
                );
                let value = Value::from(format!("$({name})"));
                self.faults
                    .push(Fault::invalid(field.clone(), &value, detail));
            }
        }
    }
}

fn holds(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
