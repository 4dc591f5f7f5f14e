//! Structs and pointers to structs.

use std::any::Any;
use std::fmt;

use super::{Function, GoString, Value};

/// What an [`Object`] is in Go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A struct.
    Struct,
    /// A pointer to a struct.
    Pointer,
}

impl ObjectKind {
    /// The kind's name.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Struct => "struct",
            Self::Pointer => "ptr",
        }
    }
}

/// A struct of Go, or a pointer to one: `time.Time`, `*semver.Version`, `.Capabilities`.
///
/// ```
/// use expandybird_gotemplate::value::{Object, Value};
///
/// #[derive(Debug)]
/// struct KubeVersion(&'static str);
///
/// impl Object for KubeVersion {
///     fn type_name(&self) -> &str {
///         "common.KubeVersion"
///     }
///     fn field_names(&self) -> &'static [&'static str] {
///         &["Version"]
///     }
///     fn field(&self, name: &str) -> Option<Value> {
///         (name == "Version").then(|| self.0.into())
///     }
///     fn as_any(&self) -> &dyn std::any::Any {
///         self
///     }
/// }
/// ```
pub trait Object: fmt::Debug {
    /// The type, as Go prints it, with a `*` for a pointer.
    fn type_name(&self) -> &str;

    /// What it is in Go.
    fn kind(&self) -> ObjectKind {
        ObjectKind::Struct
    }

    /// The exported fields, in the order in which Go prints them.
    fn field_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// The field of this name.
    fn field(&self, _name: &str) -> Option<Value> {
        None
    }

    /// The methods. They get the object as the receiver.
    fn methods(&self) -> &'static [Function] {
        &[]
    }

    /// What `String()` or `Error()` returns, if the type has one of them.
    fn text(&self) -> Option<GoString> {
        None
    }

    /// Go's `==`: pointers by identity, structs by their fields.
    fn is_equal(&self, _other: &dyn Object) -> bool {
        false
    }

    /// For functions that take objects of one type.
    fn as_any(&self) -> &dyn Any;
}
