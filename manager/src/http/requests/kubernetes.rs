//! Errors below the paths that a Kubernetes client uses are a `Status`.

use actix_web::body::{BoxBody, MessageBody, to_bytes_limited};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::CONTENT_TYPE;
use actix_web::middleware::Next;
use actix_web::{HttpResponse, HttpResponseBuilder};
use common::api::error::{ErrorBody, ErrorCode};
use common::json::{self, Limits};
use expandybird_templateobject::Reason;
use serde::Serialize;

/// The first segments of such paths.
const PREFIXES: [&str; 2] = ["/api/v1/", "/apis/"];

/// An error as Kubernetes writes it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "KubernetesStatus")]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    status: &'static str,
    message: String,
    /// Such as `NotFound`.
    reason: &'static str,
    details: Details,
    /// The HTTP status.
    code: u16,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "KubernetesStatusMetadata")]
struct Empty {}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "KubernetesStatusDetails")]
struct Details {
    group: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "KubernetesStatusCause")]
struct Cause {
    /// Such as `FieldValueRequired`.
    reason: &'static str,
    message: String,
    /// The path of the field, or empty.
    field: String,
}

pub fn is_kubernetes(path: &str) -> bool {
    PREFIXES.iter().any(|prefix| path.starts_with(prefix))
}

/// Writes an error's body as a `Status`, below those paths.
pub async fn status(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let is_kubernetes = is_kubernetes(request.path());
    let response = next.call(request).await?.map_into_boxed_body();
    let status = response.status();
    if !is_kubernetes || !(status.is_client_error() || status.is_server_error()) {
        return Ok(response);
    }
    let (request, response) = response.into_parts();
    let headers = response.headers().clone();
    let read = to_bytes_limited(response.into_body(), Limits::ERROR.bytes).await;
    let body = match read {
        Ok(Ok(bytes)) => json::from_slice::<ErrorBody>(&bytes, &Limits::ERROR).ok(),
        _ => None,
    };
    let body = body.unwrap_or_else(|| ErrorBody::new(ErrorCode::Internal, "the answer was lost"));
    let mut answer: HttpResponseBuilder = HttpResponse::build(status);
    for (name, value) in headers.iter().filter(|(name, _)| *name != CONTENT_TYPE) {
        answer.append_header((name.clone(), value.clone()));
    }
    let answer = answer.json(as_status(body, status.as_u16()));
    Ok(ServiceResponse::new(request, answer))
}

fn as_status(body: ErrorBody, status: u16) -> Status {
    Status {
        kind: "Status",
        api_version: "v1",
        metadata: Empty {},
        status: "Failure",
        message: body.message,
        reason: reason(body.code, status),
        details: Details {
            group: "template.openshift.io",
            kind: "Template",
            causes: body.causes.into_iter().map(cause).collect(),
        },
        code: status,
    }
}

/// A fault's text begins with its field.
fn cause(fault: ErrorBody) -> Cause {
    let field = fault.location.and_then(|location| location.path);
    let field = field.unwrap_or_default();
    let message = fault.message.strip_prefix(&field);
    let message = message.unwrap_or(&fault.message);
    let message = message.strip_prefix(": ").unwrap_or(message);
    let reason = Reason::of_message(message).map_or("FieldValueInvalid", Reason::as_cause);
    Cause {
        reason,
        message: message.to_owned(),
        field,
    }
}

fn reason(code: ErrorCode, status: u16) -> &'static str {
    match (code, status) {
        (ErrorCode::AlreadyExists, _) => "AlreadyExists",
        (_, 400) => "BadRequest",
        (_, 401) => "Unauthorized",
        (_, 403) => "Forbidden",
        (_, 404) => "NotFound",
        (_, 405) => "MethodNotAllowed",
        (_, 409) => "Conflict",
        (_, 413) => "RequestEntityTooLarge",
        (_, 415) => "UnsupportedMediaType",
        (_, 422) => "Invalid",
        (_, 429) => "TooManyRequests",
        (_, 503) => "ServiceUnavailable",
        (_, 504) => "Timeout",
        _ => "InternalError",
    }
}
