//! What is wrong with a Template or its parameters, in the words of Kubernetes' field errors.

use std::fmt;

use serde_json::Value;

use crate::field::Field;
use crate::limits;

/// Why a field is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Required,
    Invalid,
    Duplicate,
    NotSupported,
    TooMany,
}

impl Reason {
    const ALL: [Self; 5] = [
        Self::Required,
        Self::Invalid,
        Self::Duplicate,
        Self::NotSupported,
        Self::TooMany,
    ];

    /// The reason that a fault's message begins with.
    pub fn of_message(message: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|reason| message.starts_with(reason.title()))
    }

    /// The reason of a cause in a Kubernetes `Status`.
    pub const fn as_cause(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::Duplicate => "FieldValueDuplicate",
            Self::NotSupported => "FieldValueNotSupported",
            Self::TooMany => "FieldValueTooMany",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid => "Invalid value",
            Self::Duplicate => "Duplicate value",
            Self::NotSupported => "Unsupported value",
            Self::TooMany => "Too many",
        }
    }
}

/// One fault, at its field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub reason: Reason,
    pub field: Field,
    /// The value that is refused, as JSON. None: there is none.
    value: Option<String>,
    detail: String,
}

impl Fault {
    pub fn required(field: Field, detail: impl Into<String>) -> Self {
        Self::of(Reason::Required, field, None, detail)
    }

    /// A long value is shown by its kind only.
    pub fn invalid(field: Field, value: &Value, detail: impl Into<String>) -> Self {
        Self::of(Reason::Invalid, field, Some(excerpt(value)), detail)
    }

    pub fn duplicate(field: Field, value: &str) -> Self {
        let value = excerpt(&Value::from(value));
        Self::of(Reason::Duplicate, field, Some(value), "")
    }

    pub fn unsupported(field: Field, value: &str, supported: &[&str]) -> Self {
        let names: Vec<_> = supported.iter().map(|name| format!("{name:?}")).collect();
        let detail = format!("supported values: {}", names.join(", "));
        let value = excerpt(&Value::from(value));
        Self::of(Reason::NotSupported, field, Some(value), detail)
    }

    pub fn too_many(field: Field, count: usize, limit: usize) -> Self {
        let detail = format!("must have at most {limit} items");
        Self::of(Reason::TooMany, field, Some(count.to_string()), detail)
    }

    fn of(reason: Reason, field: Field, value: Option<String>, detail: impl Into<String>) -> Self {
        Self {
            reason,
            field,
            value,
            detail: detail.into(),
        }
    }

    /// The fault without its field: what a cause in a `Status` says.
    pub fn message(&self) -> String {
        let value = self.value.as_deref();
        let parts = [Some(self.reason.title()), value, Some(&*self.detail)];
        let parts: Vec<_> = (parts.into_iter().flatten())
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(": ")
    }
}

fn excerpt(value: &Value) -> String {
    const CHARS: usize = 200;
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        Value::String(text) if text.chars().count() > CHARS => {
            let start: String = text.chars().take(CHARS).collect();
            format!("{:?}", format!("{start}…"))
        }
        other => other.to_string(),
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => f.write_str(&self.message()),
            field => write!(f, "{field}: {}", self.message()),
        }
    }
}

/// All faults that were found, at least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    /// Nothing, if there is no fault.
    ///
    /// # Errors
    /// There is one.
    pub fn check(mut faults: Vec<Fault>) -> Result<(), Self> {
        faults.truncate(limits::FAULTS);
        match faults.is_empty() {
            true => Ok(()),
            false => Err(Self(faults)),
        }
    }
}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}

/// One fault as it is; several in brackets, as Kubernetes lists them.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0[..] {
            [one] => one.fmt(f),
            all => {
                let all: Vec<_> = all.iter().map(Fault::to_string).collect();
                write!(f, "[{}]", all.join(", "))
            }
        }
    }
}
