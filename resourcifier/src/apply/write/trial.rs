//! A create that is only tried.

use serde_json::Value;

use crate::apply::context::Context;
use crate::kubectl::KubectlError;
use crate::plan;

/// Whether the API server would accept the object as a new one. An error where it cannot be tried.
pub async fn create_would_succeed(
    context: Context<'_>,
    object: &Value,
) -> Result<bool, KubectlError> {
    let manager = plan::field_manager(context.deployment);
    let within = context.deadline.call();
    let tried = context.kubectl.try_create(object, &manager, within).await;
    tried.map(|()| true)
}
