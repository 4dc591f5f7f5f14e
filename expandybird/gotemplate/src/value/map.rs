//! Go's maps.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use super::{Function, GoString, Type, Value, drop_all};

/// A map of Go whose keys are strings. Clones share the entries: a change shows everywhere.
#[derive(Clone, Debug)]
pub struct Map {
    node: Rc<Node>,
    class: Option<&'static MapClass>,
}

/// What a map type with a name of its own has more than `map[string]T`.
#[derive(Debug)]
pub struct MapClass {
    /// The type, as Go prints it.
    pub type_name: &'static str,
    /// The methods, which hide entries of the same name. They get the map as the receiver.
    pub methods: &'static [Function],
}

#[derive(Debug)]
struct Node {
    element: Type,
    is_nil: bool,
    entries: RefCell<BTreeMap<GoString, Value>>,
}

impl Drop for Node {
    fn drop(&mut self) {
        let entries = self.entries.get_mut();
        if entries.values().any(Value::is_container) {
            drop_all(std::mem::take(entries).into_values().collect());
        }
    }
}

/// The entries of a map, without keeping them alive.
#[derive(Debug)]
pub struct WeakMap(Weak<Node>);

impl WeakMap {
    /// Empties the map, which breaks circles through it.
    pub fn clear(&self) {
        let Some(node) = self.0.upgrade() else { return };
        if let Ok(mut entries) = node.entries.try_borrow_mut() {
            let entries = std::mem::take(&mut *entries);
            drop_all(entries.into_values().collect());
        }
    }
}

impl Default for Map {
    /// An empty `map[string]interface {}`.
    fn default() -> Self {
        Self::new(Type::Any)
    }
}

impl FromIterator<(GoString, Value)> for Map {
    /// A `map[string]interface {}`.
    fn from_iter<I: IntoIterator<Item = (GoString, Value)>>(entries: I) -> Self {
        Self::from_entries(Type::Any, false, entries.into_iter().collect())
    }
}

impl Map {
    /// An empty map of this element type.
    #[must_use]
    pub fn new(element: Type) -> Self {
        Self::from_entries(element, false, BTreeMap::new())
    }

    /// A nil map of this element type.
    #[must_use]
    pub fn nil(element: Type) -> Self {
        Self::from_entries(element, true, BTreeMap::new())
    }

    fn from_entries(element: Type, is_nil: bool, entries: BTreeMap<GoString, Value>) -> Self {
        Self {
            node: Rc::new(Node {
                element,
                is_nil,
                entries: RefCell::new(entries),
            }),
            class: None,
        }
    }

    /// The same entries, as a type with a name.
    #[must_use]
    pub fn with_class(mut self, class: &'static MapClass) -> Self {
        self.class = Some(class);
        self
    }

    /// The same entries, as a `map[string]T` without methods.
    #[must_use]
    pub fn without_class(mut self) -> Self {
        self.class = None;
        self
    }

    /// The type of the values.
    #[must_use]
    pub fn element(&self) -> Type {
        self.node.element
    }

    /// Whether this is a nil map: it is empty, and nothing can be put into it.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.node.is_nil
    }

    /// The type, as Go prints it.
    #[must_use]
    pub fn type_text(&self) -> String {
        match self.class {
            Some(class) => class.type_name.to_owned(),
            None => format!("map[string]{}", self.element().text()),
        }
    }

    /// The method of this name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<Function> {
        let methods = self.class?.methods;
        methods.iter().find(|method| method.name == name).copied()
    }

    /// The value under this key.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.node.entries.borrow().get(key).cloned()
    }

    /// Whether there is an entry.
    #[must_use]
    pub fn contains_key(&self, key: &[u8]) -> bool {
        self.node.entries.borrow().contains_key(key)
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.node.entries.borrow().len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.node.entries.borrow().is_empty()
    }

    /// The entries as they are now, sorted by the keys' bytes.
    #[must_use]
    pub fn entries(&self) -> Vec<(GoString, Value)> {
        let entries = self.node.entries.borrow();
        entries
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// The keys as they are now, sorted by their bytes.
    #[must_use]
    pub fn keys(&self) -> Vec<GoString> {
        self.node.entries.borrow().keys().cloned().collect()
    }

    /// Puts an entry into a map that is being made. A function that changes a map of the template calls
    /// [`super::Call::set`] instead, which frees maps that come to contain themselves. A nil map stays as it is.
    pub fn insert(&self, key: impl Into<GoString>, value: Value) {
        if !self.node.is_nil {
            let old = self.node.entries.borrow_mut().insert(key.into(), value);
            drop(old);
        }
    }

    /// Removes an entry.
    pub fn remove(&self, key: &[u8]) -> Option<Value> {
        self.node.entries.borrow_mut().remove(key)
    }

    /// Whether both are the same map, not only equal ones.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.node, &other.node)
    }

    /// The entries, without keeping them alive.
    #[must_use]
    pub fn downgrade(&self) -> WeakMap {
        WeakMap(Rc::downgrade(&self.node))
    }

    /// Moves containers that only this map holds to `pending`.
    pub(super) fn take_containers(self, pending: &mut Vec<Value>) {
        if let Some(mut node) = Rc::into_inner(self.node) {
            let entries = std::mem::take(node.entries.get_mut());
            pending.extend(entries.into_values().filter(Value::is_container));
        }
    }
}
