//! Where in a Template something is: as Kubernetes writes fields, and as a JSON pointer.

use std::fmt;

/// A place in a Template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    /// As Kubernetes writes it: `parameters[0].name`.
    text: String,
    /// RFC 6901, from the Template: `/parameters/0/name`.
    pointer: String,
}

impl Field {
    /// A field of the Template itself.
    pub fn new(key: &str) -> Self {
        Self::default().key(key)
    }

    /// A field that errors call differently from where it stands.
    pub fn called(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub fn key(&self, key: &str) -> Self {
        let dot = if self.text.is_empty() { "" } else { "." };
        Self {
            text: format!("{}{dot}{key}", self.text),
            pointer: format!("{}/{}", self.pointer, escaped(key)),
        }
    }

    pub fn index(&self, index: usize) -> Self {
        Self {
            text: format!("{}[{index}]", self.text),
            pointer: format!("{}/{index}", self.pointer),
        }
    }

    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
