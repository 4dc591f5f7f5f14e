//! Go's values, as far as templates can distinguish them.
//!
//! Printing, comparison, conversion and error texts depend on Go's static types, so a [`Value`] keeps them: `int` and
//! `int64` differ, a `[]string` is no `[]interface {}`. Cloning is cheap: strings, lists, maps and objects are shared.
//! A [`Map`] is changed in place, and everybody who holds it sees the change.
//!
//! This module knows no templates: [`function`] says what a function may ask of a run.

mod function;
mod integer;
mod json;
mod list;
mod map;
mod object;
mod slot;
mod string;
mod types;

pub use function::{Body, BoundFunction, Call, ExecuteSourceError, Function, Runtime};
pub use integer::{IntKind, UintKind};
pub use json::Numbers;
pub use list::{List, ListClass};
pub use map::{Map, MapClass, WeakMap};
pub use object::{Object, ObjectKind};
pub use slot::Slot;
pub use string::GoString;
pub use types::Type;

use std::rc::Rc;

/// A value of Go.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// The untyped `nil`, and a nil of type `interface {}`: which of them it is, is a matter of where it stands.
    #[default]
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`, `int64` and their relatives.
    Int(IntKind, i64),
    /// `uint64`, `uint8` and their relatives.
    Uint(UintKind, u64),
    /// `float64`
    Float(f64),
    /// `string`: any bytes.
    String(GoString),
    /// `[]uint8`
    Bytes(GoString),
    /// A slice of anything else.
    List(List),
    /// A map whose keys are strings.
    Map(Map),
    /// A struct, or a pointer to one.
    Object(Rc<dyn Object>),
    /// A function, or a method that is bound to its receiver.
    Function(BoundFunction),
}

impl Value {
    /// A Go `int`.
    #[must_use]
    pub fn int(number: i64) -> Self {
        Self::Int(IntKind::Int, number)
    }

    /// A Go `int64`.
    #[must_use]
    pub fn int64(number: i64) -> Self {
        Self::Int(IntKind::Int64, number)
    }

    /// A Go `uint64`.
    #[must_use]
    pub fn uint64(number: u64) -> Self {
        Self::Uint(UintKind::Uint64, number)
    }

    /// A Go `string`.
    pub fn string(text: impl Into<GoString>) -> Self {
        Self::String(text.into())
    }

    /// Whether this is nil: the untyped one, or a nil slice or map.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        match self {
            Self::Nil => true,
            Self::List(list) => list.is_nil(),
            Self::Map(map) => map.is_nil(),
            _ => false,
        }
    }

    /// Whether `if` takes this for true: not the zero of its type, and not empty.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(truth) => *truth,
            Self::Int(_, number) => *number != 0,
            Self::Uint(_, number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::String(text) | Self::Bytes(text) => !text.is_empty(),
            Self::List(list) => !list.items().is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(_) | Self::Function(_) => true,
        }
    }

    /// The type, as `%T` and error texts print it: `map[string]interface {}`, `<nil>`.
    #[must_use]
    pub fn type_text(&self) -> String {
        match self {
            Self::Nil => "<nil>".to_owned(),
            Self::List(list) => list.type_text(),
            Self::Map(map) => map.type_text(),
            Self::Object(object) => object.type_name().to_owned(),
            Self::Function(function) => function.type_text(),
            _ => self.basic_type().map(Type::text).unwrap_or_default(),
        }
    }

    /// The kind, as Go's `reflect.Kind` prints it: `map`, `slice`, `float64`, `invalid`.
    #[must_use]
    pub fn kind_text(&self) -> &'static str {
        match self {
            Self::Nil => "invalid",
            Self::Bool(_) => "bool",
            Self::Int(kind, _) => kind.text(),
            Self::Uint(kind, _) => kind.text(),
            Self::Float(_) => "float64",
            Self::String(_) => "string",
            Self::Bytes(_) | Self::List(_) => "slice",
            Self::Map(_) => "map",
            Self::Object(object) => object.kind().text(),
            Self::Function(_) => "func",
        }
    }

    /// The type, where it is not a matter of the contents.
    fn basic_type(&self) -> Option<Type> {
        Some(match self {
            Self::Bool(_) => Type::Bool,
            Self::Int(kind, _) => Type::Int(*kind),
            Self::Uint(kind, _) => Type::Uint(*kind),
            Self::Float(_) => Type::Float,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Slice(&Type::Uint(UintKind::Uint8)),
            Self::Nil | Self::List(_) | Self::Map(_) | Self::Object(_) | Self::Function(_) => {
                return None;
            }
        })
    }

    /// Whether a parameter of this type takes the value as it is.
    #[must_use]
    pub fn is_assignable_to(&self, wanted: Type) -> bool {
        if wanted == Type::Any {
            return true;
        }
        match (self, wanted) {
            (Self::List(list), Type::Slice(element)) => list.element() == *element,
            (Self::Map(map), Type::Map(element)) => map.element() == *element,
            (Self::Object(object), Type::Named(name)) => object.type_name() == name,
            (Self::Map(map), Type::Named(name)) => map.type_text() == name,
            (Self::List(list), Type::Named(name)) => list.type_text() == name,
            (Self::Function(_), Type::Function) => true,
            _ => self.basic_type() == Some(wanted),
        }
    }

    /// Whether dropping this may drop values within it.
    fn is_container(&self) -> bool {
        matches!(self, Self::List(_) | Self::Map(_))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<GoString> for Value {
    fn from(text: GoString) -> Self {
        Self::String(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

/// Drops values that hold values that hold values, without a call within a call for each level.
fn drop_all(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::List(list) => list.take_containers(&mut pending),
            Value::Map(map) => map.take_containers(&mut pending),
            _ => {}
        }
    }
}
