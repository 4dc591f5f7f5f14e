//! Files that travel with a configuration: templates, schemas, helpers.

use serde::{Deserialize, Serialize};

/// One imported file. A resource whose type equals `name` is an instance of this template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Import {
    /// What configurations and templates call the file.
    pub name: String,
    /// Where it came from: decides the language by its suffix, and is the base for what its schema imports. The name, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub content: String,
}

impl Import {
    /// The path, or the name where no path was given.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.name)
    }
}
