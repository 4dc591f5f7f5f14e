//! Go's slices.

use std::rc::Rc;

use super::{Function, GoString, Type, Value, drop_all};

/// A slice of Go. Clones share the items, which do not change.
#[derive(Clone, Debug)]
pub struct List {
    node: Rc<Node>,
    class: Option<&'static ListClass>,
}

/// What a slice type with a name of its own has more than `[]T`.
#[derive(Debug)]
pub struct ListClass {
    /// The type, as Go prints it.
    pub type_name: &'static str,
    /// The methods. They get the list as the receiver.
    pub methods: &'static [Function],
}

#[derive(Debug)]
struct Node {
    element: Type,
    is_nil: bool,
    items: Vec<Value>,
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.items.iter().any(Value::is_container) {
            drop_all(std::mem::take(&mut self.items));
        }
    }
}

impl List {
    /// A slice of this element type. The items must have it.
    #[must_use]
    pub fn new(element: Type, items: Vec<Value>) -> Self {
        Self::from_node(element, false, items)
    }

    /// A `[]interface {}`.
    #[must_use]
    pub fn any(items: Vec<Value>) -> Self {
        Self::new(Type::Any, items)
    }

    /// A `[]string`.
    pub fn strings(items: impl IntoIterator<Item = GoString>) -> Self {
        Self::new(Type::String, items.into_iter().map(Value::String).collect())
    }

    /// A nil slice of this element type.
    #[must_use]
    pub fn nil(element: Type) -> Self {
        Self::from_node(element, true, Vec::new())
    }

    fn from_node(element: Type, is_nil: bool, items: Vec<Value>) -> Self {
        Self {
            node: Rc::new(Node {
                element,
                is_nil,
                items,
            }),
            class: None,
        }
    }

    /// The same items, as a type with a name.
    #[must_use]
    pub fn with_class(mut self, class: &'static ListClass) -> Self {
        self.class = Some(class);
        self
    }

    /// The items.
    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.node.items
    }

    /// The type of the items.
    #[must_use]
    pub fn element(&self) -> Type {
        self.node.element
    }

    /// Whether this is a nil slice, which is not the same as an empty one.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.node.is_nil
    }

    /// The type, as Go prints it.
    #[must_use]
    pub fn type_text(&self) -> String {
        match self.class {
            Some(class) => class.type_name.to_owned(),
            None => format!("[]{}", self.element().text()),
        }
    }

    /// The method of this name.
    #[must_use]
    pub fn method(&self, name: &str) -> Option<Function> {
        let methods = self.class?.methods;
        methods.iter().find(|method| method.name == name).copied()
    }

    /// Moves containers that only this list holds to `pending`.
    pub(super) fn take_containers(self, pending: &mut Vec<Value>) {
        if let Some(mut node) = Rc::into_inner(self.node) {
            let items = std::mem::take(&mut node.items);
            pending.extend(items.into_iter().filter(Value::is_container));
        }
    }
}
