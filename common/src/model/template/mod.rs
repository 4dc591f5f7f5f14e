//! Files that travel with a configuration: templates, schemas, helpers.

pub mod generated;

use serde::{Deserialize, Serialize};

/// One imported file. A resource whose type equals `name` is an instance of this template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Import {
    /// The name of the file in configurations and templates.
    pub name: String,
    /// Where the file came from. Its ending gives the language, and imports of its schema are relative to it. Default:
    /// the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text of the file. Base 64 for a packed chart.
    pub content: String,
}

impl Import {
    /// The path. The name if there is no path.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(&self.name)
    }
}
