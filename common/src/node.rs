//! An object of a document while it is checked: every fault is noted with its place, and reading goes on.
//!
//! For documents whose author wants to see all faults at once: catalogs and configurations of service brokers. A request
//! is read with serde, which ends at the first fault.
//!
//! ```
//! use common::node::{Faults, Node};
//!
//! let document = serde_json::json!({"name": 1, "plans": [{}]});
//! let faults = Faults::default();
//! if let Some(root) = Node::root(&document, &faults) {
//!     root.required("name");
//!     for plan in root.objects("plans").unwrap_or_default() {
//!         plan.required("id");
//!     }
//! }
//! let places: Vec<_> = faults.into_inner().into_iter().map(|fault| fault.pointer).collect();
//! assert_eq!(places, ["/name", "/plans/0/id"]);
//! ```

use std::cell::RefCell;

use serde_json::{Map, Value};

use crate::yaml::{Limits, Pointer, TextLocations};

/// What is wrong, and where: a JSON pointer (RFC 6901) into the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub pointer: String,
    pub message: String,
}

/// Collects the faults of one document.
pub type Faults = RefCell<Vec<Fault>>;

/// An object, and where it stands.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    pub pointer: String,
    pub map: &'a Map<String, Value>,
    faults: &'a Faults,
}

impl<'a> Node<'a> {
    /// The document itself. None, and a fault, if it is not an object.
    pub fn root(value: &'a Value, faults: &'a Faults) -> Option<Self> {
        Self::new(String::new(), value, faults)
    }

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

    /// Where a key stands, or would stand.
    pub fn pointer_of(&self, key: &str) -> String {
        format!("{}/{}", self.pointer, escaped(key))
    }

    /// Notes a fault of a key.
    pub fn fault(&self, key: &str, message: impl Into<String>) {
        self.fault_at(self.pointer_of(key), message);
    }

    /// Notes a fault of an item of a list.
    pub fn fault_of_item(&self, key: &str, index: usize, message: impl Into<String>) {
        self.fault_at(format!("{}/{index}", self.pointer_of(key)), message);
    }

    fn fault_at(&self, pointer: String, message: impl Into<String>) {
        let message = message.into();
        self.faults.borrow_mut().push(Fault { pointer, message });
    }

    /// The value, unless it is absent or null.
    pub fn value(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A text that must not be empty. Empty after a fault.
    pub fn required(&self, key: &str) -> String {
        if self.value(key).is_none() {
            self.fault(key, format!("{key} is missing"));
        }
        self.text(key).unwrap_or_default()
    }

    /// A text that is absent or not empty. None after a fault.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = self.value(key)?.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.fault(key, format!("{key} must be a text that is not empty"));
        }
        text.map(str::to_owned)
    }

    /// One of these texts. None if it is absent, or after a fault.
    pub fn one_of(&self, key: &str, known: &[&'static str]) -> Option<&'static str> {
        let text = self.text(key)?;
        let found = known.iter().copied().find(|one| *one == text);
        if found.is_none() {
            let known = known.join(", ");
            self.fault(key, format!("{text:?} is none of {known}"));
        }
        found
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        let flag = self.value(key)?.as_bool();
        if flag.is_none() {
            self.fault(key, format!("{key} must be true or false"));
        }
        flag
    }

    /// A whole number that is not negative.
    pub fn number(&self, key: &str) -> Option<u64> {
        let number = self.value(key)?.as_u64();
        if number.is_none() {
            self.fault(key, format!("{key} must be a whole number"));
        }
        number
    }

    pub fn object(&self, key: &str) -> Option<Node<'a>> {
        Node::new(self.pointer_of(key), self.value(key)?, self.faults)
    }

    /// An object that must be there. None after a fault.
    pub fn required_object(&self, key: &str) -> Option<Node<'a>> {
        if self.value(key).is_none() {
            self.fault(key, format!("{key} is missing"));
        }
        self.object(key)
    }

    /// The objects of a list. None, and a fault, if it is not a list.
    pub fn objects(&self, key: &str) -> Option<Vec<Node<'a>>> {
        let items = self.list(key)?.iter().enumerate();
        let items = items.filter_map(|(index, item)| {
            let pointer = format!("{}/{index}", self.pointer_of(key));
            Node::new(pointer, item, self.faults)
        });
        Some(items.collect())
    }

    /// The objects of a list with at least one item.
    pub fn some_objects(&self, key: &str) -> Vec<Node<'a>> {
        match self.list(key) {
            Some(list) if list.is_empty() => {
                self.fault(key, format!("{key} must have at least one item"));
            }
            None if self.value(key).is_none() => self.fault(key, format!("{key} is missing")),
            _ => {}
        }
        let is_list = self.value(key).is_some_and(Value::is_array);
        let objects = is_list.then(|| self.objects(key)).flatten();
        objects.unwrap_or_default()
    }

    pub fn list(&self, key: &str) -> Option<&'a Vec<Value>> {
        let list = self.value(key)?.as_array();
        if list.is_none() {
            self.fault(key, format!("{key} must be a list"));
        }
        list
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let items = self.list(key).into_iter().flatten().enumerate();
        let texts = items.filter_map(|(index, item)| match item.as_str() {
            Some(text) => Some(text.to_owned()),
            None => {
                self.fault_of_item(key, index, format!("{key} must be a list of texts"));
                None
            }
        });
        texts.collect()
    }
}

/// A key as a segment of a JSON pointer.
pub fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The faults of a document of a text, each with its line: `FILE:3:5: /services/0/name: name is missing`.
pub fn placed(file: &str, text: &str, document: usize, faults: Vec<Fault>) -> Vec<String> {
    if faults.is_empty() {
        return Vec::new();
    }
    let locations = TextLocations::new(text, &Limits::DEFAULT);
    let faults = faults.into_iter().map(|Fault { pointer, message }| {
        let place = locations.find(&Pointer::new(document, pointer.as_str()));
        let place = place.map_or_else(String::new, |place| {
            format!(":{}:{}", place.line, place.column)
        });
        match pointer.is_empty() {
            true => format!("{file}{place}: {message}"),
            false => format!("{file}{place}: {pointer}: {message}"),
        }
    });
    faults.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_noted_with_its_place_and_reading_goes_on() {
        let document = json!({
            "empty": "", "flag": 1, "number": -1, "list": {}, "a/b": [1, {"c": []}], "kind": "z", "none": [],
        });
        let faults = Faults::default();
        let root = Node::root(&document, &faults).unwrap();
        assert_eq!(root.required("empty"), "");
        assert_eq!(root.required("missing"), "");
        assert_eq!((root.flag("flag"), root.number("number")), (None, None));
        assert!(root.objects("list").is_none() && root.texts("none").is_empty());
        assert_eq!(root.one_of("kind", &["x", "y"]), None);
        assert!(root.some_objects("none").is_empty() && root.required_object("o").is_none());
        for item in root.objects("a/b").unwrap() {
            item.required("c");
        }
        let found = faults.into_inner().into_iter();
        let found: Vec<_> = found.map(|one| (one.pointer, one.message)).collect();
        let expected = [
            ("/empty", "empty must be a text that is not empty"),
            ("/missing", "missing is missing"),
            ("/flag", "flag must be true or false"),
            ("/number", "number must be a whole number"),
            ("/list", "list must be a list"),
            ("/kind", "\"z\" is none of x, y"),
            ("/none", "none must have at least one item"),
            ("/o", "o is missing"),
            ("/a~1b/0", "it must be an object"),
            ("/a~1b/1/c", "c must be a text that is not empty"),
        ];
        let expected: Vec<_> = expected
            .iter()
            .map(|(pointer, message)| ((*pointer).to_owned(), (*message).to_owned()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_fault_has_the_line_of_its_document() {
        let fault = |pointer: &str| Fault {
            pointer: pointer.to_owned(),
            message: "bad".to_owned(),
        };
        let text = "a: 1\n---\nb:\n- c: 2\n";
        let shown = placed("f", text, 1, vec![fault("/b/0/c"), fault("")]);
        assert_eq!(shown, ["f:4:3: /b/0/c: bad", "f:3:1: bad"]);
    }
}
