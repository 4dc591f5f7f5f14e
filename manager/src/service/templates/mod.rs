//! Templates apart from the deployments that use them: stored ones, the types in use, and what another version changes.

pub(super) mod live_export;
pub mod stored_templates;
pub mod template_inputs;
pub mod template_patch;
pub mod types;
pub mod whatif;
