//! What a caller chooses for one processing of a Template.

use serde_json::{Map, Value};

/// What a caller chooses.
#[derive(Debug, Default)]
pub struct Inputs<'a> {
    /// By name. Null is the same as nothing; an empty text is a choice.
    pub parameters: Map<String, Value>,
    /// Are merged over the Template's, and may hold references.
    pub labels: &'a [(String, String)],
    /// Parameters that the Template does not have are left out.
    pub ignore_unknown: bool,
}
