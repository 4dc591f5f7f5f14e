//! The namespace of a deployment, if the request wants it created. It is none of the deployment's objects.

use common::api::error::{ErrorBody, ErrorCode};
use common::model::{Namespace, ObjectRef};
use serde_json::json;

use crate::apply::context::{Context, Stopped};
use crate::kubectl::{ApplyOptions, Precondition};
use crate::plan;

/// Creates the namespace if it is missing.
pub async fn ensure(context: Context<'_>, namespace: &Namespace) -> Result<(), Stopped> {
    context.gate.check()?;
    let object = ObjectRef {
        api_version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        namespace: None,
        name: namespace.to_string(),
    };
    // Without the permission to read it, the create says whether it is there.
    if let Ok(Some(_)) = context.kubectl.get(&object, context.deadline.call()).await {
        return Ok(());
    }
    let manager = plan::field_manager(context.deployment);
    let options = ApplyOptions {
        manager: &manager,
        force: false,
        dry_run: false,
        precondition: Precondition::None,
    };
    let wanted = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    let within = context.deadline.call();
    let applied = context.kubectl.apply(&wanted, options, within).await;
    applied.map(drop).map_err(|error| {
        let message = format!("namespace {namespace} is missing and cannot be created: {error}");
        let code = match error.is_transient() {
            true => error.code(),
            false => ErrorCode::ResourcesFailed,
        };
        ErrorBody::new(code, message).into()
    })
}
