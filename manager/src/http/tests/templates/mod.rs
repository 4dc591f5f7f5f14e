//! Routes of templates: stored ones, expansions, references and kept values.

pub(super) mod expand;
pub(super) mod resolution;
pub(super) mod stored_templates;
pub(super) mod values;
