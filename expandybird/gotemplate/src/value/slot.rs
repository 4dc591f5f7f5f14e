//! Values with the place where they stand.

use super::{Type, Value};

/// A value, and whether Go would see it through a variable of type `interface {}`: an entry of a
/// `map[string]interface {}` is seen so until it passes a pipe, parentheses or a variable.
///
/// Error texts name the static type, and a nil `interface {}` fails where the untyped nil does not.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// The value.
    pub value: Value,
    /// Whether it stands in an `interface {}`.
    pub is_boxed: bool,
}

impl Slot {
    /// An untyped nil: in Go, no value at all.
    pub const INVALID: Self = Self {
        value: Value::Nil,
        is_boxed: false,
    };
    /// A nil of type `interface {}`.
    pub const NIL_INTERFACE: Self = Self {
        value: Value::Nil,
        is_boxed: true,
    };

    /// A value of its own type.
    #[must_use]
    pub fn new(value: Value) -> Self {
        Self {
            value,
            is_boxed: false,
        }
    }

    /// An element of a list or a map whose elements have this type.
    #[must_use]
    pub fn element(value: Value, element: Type) -> Self {
        Self {
            value,
            is_boxed: element == Type::Any,
        }
    }

    /// The zero value of a type.
    #[must_use]
    pub fn zero(of: Type) -> Self {
        match of {
            Type::Any => Self::NIL_INTERFACE,
            Type::Reflected => Self::INVALID,
            _ => Self::new(of.zero()),
        }
    }

    /// Whether this is the untyped nil.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        !self.is_boxed && matches!(self.value, Value::Nil)
    }

    /// Whether this is a nil of type `interface {}`.
    #[must_use]
    pub fn is_nil_interface(&self) -> bool {
        self.is_boxed && matches!(self.value, Value::Nil)
    }

    /// The static type, as Go prints it.
    #[must_use]
    pub fn type_text(&self) -> String {
        if self.is_boxed {
            Type::Any.text()
        } else {
            self.value.type_text()
        }
    }

    /// The same value, out of its `interface {}`.
    #[must_use]
    pub fn unboxed(self) -> Self {
        Self::new(self.value)
    }
}

impl From<Value> for Slot {
    fn from(value: Value) -> Self {
        Self::new(value)
    }
}
