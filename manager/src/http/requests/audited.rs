//! What the audit log records of a request that writes or was denied.

use actix_web::HttpMessage;
use actix_web::dev::ServiceResponse;
use actix_web::web::Data;
use common::api::error::ErrorCode;
use common::model::{DeploymentName, OperationId};
use common::request_id;
use common::server::ApiError;

use super::guard::Need;
use crate::audit::{Event, Outcome, failure};
use crate::auth::Caller;
use crate::service::Services;
use crate::service::operations::OperationHandle;

/// In a request's extensions: the operation of the request, known once it is accepted.
#[derive(Debug, Clone)]
pub struct AuditedOperation {
    operation: OperationId,
    deployment: DeploymentName,
}

impl AuditedOperation {
    pub fn new(handle: &OperationHandle) -> Self {
        let operation = handle.watch().operation();
        Self {
            operation: operation.id.clone(),
            deployment: operation.deployment.clone(),
        }
    }
}

/// `refused`: why the guard rejected the request.
pub fn record<B>(need: Need, refused: Option<ErrorCode>, response: &ServiceResponse<B>) {
    let request = response.request();
    let Some(services) = request.app_data::<Data<Services>>() else {
        return;
    };
    let error = response.response().error();
    let failed = error.and_then(|error| error.as_error::<ApiError>());
    let code = refused.or(failed.map(|error| error.0.code));
    let outcome = outcome(refused, code, response.status().as_u16());
    if !services.audit.is_kept() || !(need.writes() || outcome == Outcome::Denied) {
        return;
    }
    let caller: Caller = request.extensions().get().cloned().unwrap_or_default();
    let about: Option<AuditedOperation> = request.extensions().get().cloned();
    let in_path = |part| request.match_info().get(part);
    let deployment = in_path("deployment").and_then(|name| DeploymentName::parse(name).ok());
    let operation = in_path("operation").and_then(|id| OperationId::parse(id).ok());
    services.audit.record(&Event::Request {
        request_id: request_id::current(),
        user: caller.user(),
        groups: caller.groups(),
        address: caller.address.as_deref(),
        method: request.method().as_str(),
        route: &request.match_pattern().unwrap_or_default(),
        deployment: deployment.or(about.as_ref().map(|about| about.deployment.clone())),
        operation: operation.or(about.map(|about| about.operation)),
        status: response.status().as_u16(),
        outcome,
        code,
    });
}

fn outcome(refused: Option<ErrorCode>, code: Option<ErrorCode>, status: u16) -> Outcome {
    match (refused, code) {
        // It exists, but the caller may not see it.
        (Some(ErrorCode::NotFound), _) => Outcome::Denied,
        (_, Some(code)) => failure(code),
        (_, None) if status == 202 => Outcome::Accepted,
        (_, None) if status >= 400 => Outcome::Failed,
        _ => Outcome::Done,
    }
}
