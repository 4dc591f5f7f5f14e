//! Go's types, where a parameter or an element has one.

use super::{GoString, IntKind, List, Map, UintKind, Value};

/// A type of Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`
    Any,
    /// `reflect.Value`: takes anything and still sees whether it stood in an `interface {}`. For built-in functions.
    Reflected,
    /// `bool`
    Bool,
    /// `int` and its relatives.
    Int(IntKind),
    /// `uint` and its relatives.
    Uint(UintKind),
    /// `float64`
    Float,
    /// `string`
    String,
    /// `[]T`
    Slice(&'static Type),
    /// `map[string]T`
    Map(&'static Type),
    /// A type with a name of its own: `time.Time`, `*semver.Version`, `common.Values`.
    Named(&'static str),
    /// A function.
    Function,
}

impl Type {
    /// `int`
    pub const INT: Self = Self::Int(IntKind::Int);
    /// `int64`
    pub const INT64: Self = Self::Int(IntKind::Int64);
    /// `[]interface {}`
    pub const LIST: Self = Self::Slice(&Self::Any);
    /// `[]string`
    pub const STRINGS: Self = Self::Slice(&Self::String);
    /// `[]uint8`
    pub const BYTES: Self = Self::Slice(&Self::Uint(UintKind::Uint8));
    /// `map[string]interface {}`
    pub const MAP: Self = Self::Map(&Self::Any);

    /// The type as Go prints it.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::Any => "interface {}".to_owned(),
            Self::Reflected => "reflect.Value".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::Int(kind) => kind.text().to_owned(),
            Self::Uint(kind) => kind.text().to_owned(),
            Self::Float => "float64".to_owned(),
            Self::String => "string".to_owned(),
            Self::Slice(element) => format!("[]{}", element.text()),
            Self::Map(element) => format!("map[string]{}", element.text()),
            Self::Named(name) => name.to_owned(),
            Self::Function => "func()".to_owned(),
        }
    }

    /// The zero value: nil where there is one.
    #[must_use]
    pub fn zero(self) -> Value {
        match self {
            Self::Any | Self::Reflected | Self::Function | Self::Named(_) => Value::Nil,
            Self::Bool => Value::Bool(false),
            Self::Int(kind) => Value::Int(kind, 0),
            Self::Uint(kind) => Value::Uint(kind, 0),
            Self::Float => Value::Float(0.0),
            Self::String => Value::String(GoString::default()),
            Self::Slice(Self::Uint(UintKind::Uint8)) => Value::Bytes(GoString::default()),
            Self::Slice(element) => Value::List(List::nil(*element)),
            Self::Map(element) => Value::Map(Map::nil(*element)),
        }
    }

    /// Whether an untyped nil may stand for a value of this type.
    #[must_use]
    pub fn can_be_nil(self) -> bool {
        match self {
            Self::Any | Self::Reflected | Self::Slice(_) | Self::Map(_) | Self::Function => true,
            Self::Named(name) => name.starts_with('*'),
            Self::Bool | Self::Int(_) | Self::Uint(_) | Self::Float | Self::String => false,
        }
    }
}
