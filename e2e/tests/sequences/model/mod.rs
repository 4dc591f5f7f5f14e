//! What the tester asks for, as plain data: objects, configurations, options. Pure: nothing here knows a server.

pub mod configuration;
pub mod object;
pub mod options;

pub use configuration::{Configuration, Item};
pub use object::{Kind, ObjectId, Pace};
pub use options::{Options, Policies};

/// What one sequence calls its things. Sequences run beside each other in one cluster and one manager, so each has a prefix
/// and namespaces of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    pub prefix: String,
}

impl Names {
    pub fn deployment(&self, index: usize) -> String {
        format!("{}-d{index}", self.prefix)
    }

    /// Where objects go, and the namespace that others may remove.
    pub fn namespaces(&self) -> [String; 2] {
        [self.prefix.clone(), format!("{}-second", self.prefix)]
    }

    /// The API group of the sequence's own definition.
    pub fn group(&self) -> String {
        format!("{}.example.dev", self.prefix)
    }

    /// Whether an object of the whole cluster is of this sequence, by its name.
    pub fn own(&self, name: &str) -> bool {
        name.starts_with(&format!("{}-", self.prefix)) || name.ends_with(&self.group())
    }

    /// The service account in the first namespace.
    pub fn account(&self) -> &'static str {
        "sequence"
    }

    pub fn definition(&self) -> String {
        format!("things.{}", self.group())
    }
}
