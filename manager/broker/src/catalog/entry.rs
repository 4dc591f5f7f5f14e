//! An object of a catalog's file while it is checked: every fault is noted with its place.

use std::cell::RefCell;

use serde_json::{Map, Value};

/// What is wrong, and where: a JSON pointer into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub pointer: String,
    pub message: String,
}

/// Collects the faults of one file.
pub type Faults = RefCell<Vec<Fault>>;

pub struct Entry<'a> {
    pub pointer: String,
    pub map: &'a Map<String, Value>,
    faults: &'a Faults,
}

impl<'a> Entry<'a> {
    /// None, and a fault, if the value is not an object.
    pub fn new(pointer: String, value: &'a Value, faults: &'a Faults) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self {
                pointer,
                map,
                faults,
            }),
            _ => {
                let message = "it must be an object".to_owned();
                faults.borrow_mut().push(Fault { pointer, message });
                None
            }
        }
    }

    pub fn fault(&self, key: &str, message: impl Into<String>) {
        let fault = Fault {
            pointer: format!("{}/{key}", self.pointer),
            message: message.into(),
        };
        self.faults.borrow_mut().push(fault);
    }

    /// The value, unless it is absent or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A text that must not be empty. Empty after a fault.
    pub fn required(&self, key: &str) -> String {
        let Some(value) = self.value(key) else {
            self.fault(key, format!("{key} is missing"));
            return String::new();
        };
        match value.as_str() {
            Some(text) if !text.is_empty() => text.to_owned(),
            _ => {
                self.fault(key, format!("{key} must be a text that is not empty"));
                String::new()
            }
        }
    }

    pub fn text(&self, key: &str) -> Option<String> {
        self.value(key).map(|_| self.required(key))
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        let value = self.value(key)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.fault(key, format!("{key} must be true or false"));
        }
        flag
    }

    pub fn object(&self, key: &str) -> Option<Entry<'a>> {
        let value = self.value(key)?;
        Entry::new(format!("{}/{key}", self.pointer), value, self.faults)
    }

    /// The objects of a list. None, and a fault, if it is not a list.
    pub fn objects(&self, key: &str) -> Option<Vec<Entry<'a>>> {
        let items = self.list(key)?.iter().enumerate();
        let items = items.filter_map(|(index, item)| {
            let pointer = format!("{}/{key}/{index}", self.pointer);
            Entry::new(pointer, item, self.faults)
        });
        Some(items.collect())
    }

    pub fn list(&self, key: &str) -> Option<&'a Vec<Value>> {
        let value = self.value(key)?;
        let list = value.as_array();
        if list.is_none() {
            self.fault(key, format!("{key} must be a list"));
        }
        list
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let items = self.list(key).into_iter().flatten();
        let texts = items.filter_map(|item| match item.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.fault(key, format!("{key} must be a list of texts"));
                None
            }
        });
        texts.collect()
    }
}
