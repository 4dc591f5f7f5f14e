//! Values that a configuration makes up: the entries of its registry, and what templates generate themselves.
//!
//! Each is made once and taken from the caller afterwards. An entry of the registry is kept under its key. What an
//! entry generates is not kept a second time: a new password is made by naming its key.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use expandybird_sprig::made;
use jiff::Timestamp;
use serde_json::Value;

/// The source of random bytes: the next ones of a name.
pub type Random = Box<dyn FnMut(&str, &mut [u8])>;

/// A value that was made before.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    pub value: Value,
    pub secret: bool,
}

/// A value that was used, made now or before.
#[derive(Debug, Clone, PartialEq)]
pub struct Used {
    pub name: String,
    pub value: Value,
    /// Whether answers hide it.
    pub secret: bool,
}

/// What is known about the values of a run. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Ledger(Rc<RefCell<Book>>);

#[derive(Debug, Default)]
struct Book {
    /// The entry that is computed.
    entry: Option<String>,
    /// The secrets that were used since the entry began.
    roots: BTreeSet<String>,
    /// The secrets that an entry of the registry was made of.
    of_keys: BTreeMap<String, BTreeSet<String>>,
    /// What templates generated outside of the registry.
    generated: BTreeMap<String, Value>,
}

impl Ledger {
    /// A key was read.
    pub fn read(&self, key: &str) {
        let mut book = self.0.borrow_mut();
        let roots = book.of_keys.get(key).cloned().unwrap_or_default();
        book.roots.extend(roots);
    }

    /// The entry of a key is about to be computed.
    pub fn begin(&self, key: &str) {
        let mut book = self.0.borrow_mut();
        book.entry = Some(key.to_owned());
        book.roots.clear();
    }

    /// The entry is computed.
    pub fn end(&self) {
        let mut book = self.0.borrow_mut();
        let roots = std::mem::take(&mut book.roots);
        if let Some(key) = book.entry.take() {
            book.of_keys.insert(key, roots);
        }
    }

    /// A secret entry was kept.
    pub fn keep(&self, key: &str) {
        let roots = BTreeSet::from([key.to_owned()]);
        self.0.borrow_mut().of_keys.insert(key.to_owned(), roots);
    }

    /// The secrets that the entry of a key was made of.
    pub fn roots(&self, key: &str) -> BTreeSet<String> {
        let book = self.0.borrow();
        book.of_keys.get(key).cloned().unwrap_or_default()
    }

    /// What templates generated outside of the registry.
    pub fn generated(&self) -> Vec<(String, Value)> {
        let generated = self.0.borrow().generated.clone();
        generated.into_iter().collect()
    }
}

/// The values as the functions that generate take them.
pub struct Source {
    pub kept: BTreeMap<String, String>,
    pub random: Random,
    pub time: Timestamp,
    pub ledger: Ledger,
}

impl made::Values for Source {
    fn kept(&self, name: &str) -> Option<String> {
        let is_entry = self.ledger.0.borrow().entry.is_some();
        let kept = self.kept.get(name).filter(|_| !is_entry);
        kept.cloned()
    }

    fn random(&mut self, name: &str, bytes: &mut [u8]) {
        (self.random)(name, bytes);
    }

    fn time(&self) -> Timestamp {
        self.time
    }

    fn used(&mut self, name: &str, value: &str, _: bool) {
        let mut book = self.ledger.0.borrow_mut();
        match book.entry.clone() {
            Some(key) => drop(book.roots.insert(key)),
            None => drop(book.generated.insert(name.to_owned(), Value::from(value))),
        }
    }
}
