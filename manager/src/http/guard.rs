//! Before every handler: who asks, and whether they may.
//!
//! Each line of the table of routes names its [`Need`]; a line without one does not compile. What is decided here is
//! decided before a body is read. What a body names is decided by the use case, which gets the [`Caller`] for that.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::AUTHORIZATION;
use actix_web::middleware::Next;
use actix_web::web::{Data, Path};
use actix_web::{HttpMessage, ResponseError};
use common::api::error::ErrorCode;
use common::model::{DeploymentName, OperationId};
use common::server::limits::{self, Admission};
use common::server::{ApiError, Stranger};
use serde::Deserialize;

use super::extract::name;
use crate::auth::{Caller, Resource, Verb};
use crate::service::Services;

/// What a route asks of its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: probes and clients that do not know yet how to ask. Who is known may be told more.
    Nothing,
    /// To be somebody.
    Anybody,
    /// To be somebody; the answer holds what the caller may see, and nothing else.
    Seen,
    /// That the caller may do it in the namespace that the body names; the use case asks.
    InBody,
    /// That the caller may do it with the deployment in the path.
    Deployment(Verb),
    /// That the caller may do it with the deployment of the operation in the path.
    Operation(Verb),
    /// That the caller may do it with all of a kind, which belongs to no namespace.
    Whole(Resource, Verb),
}

#[derive(Deserialize)]
struct DeploymentInPath {
    deployment: String,
}

#[derive(Deserialize)]
struct OperationInPath {
    operation: String,
}

/// Answers in the handler's place who may not.
pub async fn guard<B: MessageBody>(
    need: Need,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    match admit(need, &mut request).await {
        Ok((caller, _counted)) => {
            request.extensions_mut().insert(caller);
            Ok(next.call(request).await?.map_into_left_body())
        }
        Err(error) => {
            let refusal = error.error_response();
            Ok(request.into_response(refusal).map_into_right_body())
        }
    }
}

/// Counts the request as its caller's, too, once that is known: before anything is looked up for it.
async fn admit(need: Need, request: &mut ServiceRequest) -> Result<(Caller, Admission), ApiError> {
    let services = request.app_data::<Data<Services>>().cloned();
    let missing = || ApiError::new(ErrorCode::Internal, "the service is not wired");
    let services = services.ok_or_else(missing)?;
    let caller = match (caller(&services, request).await, need) {
        (Ok(caller), _) => caller,
        (Err(_), Need::Nothing) => {
            request.extensions_mut().insert(Stranger);
            Caller::default()
        }
        (Err(error), _) => return Err(error),
    };
    let counted = match &caller.identity {
        Some(identity) => limits::admit(request.request(), identity.user())?,
        None => Admission::default(),
    };
    let gate = &services.gate;
    match need {
        Need::Nothing | Need::Anybody | Need::Seen | Need::InBody => {}
        Need::Deployment(verb) => {
            let path = request.extract::<Path<DeploymentInPath>>().await;
            let path = path.map_err(|error| unreadable(&error))?;
            let deployment = name(DeploymentName::parse(path.into_inner().deployment))?;
            gate.deployment(&caller, &deployment, verb).await?;
        }
        Need::Operation(verb) => {
            let path = request.extract::<Path<OperationInPath>>().await;
            let path = path.map_err(|error| unreadable(&error))?;
            let operation = name(OperationId::parse(path.into_inner().operation))?;
            gate.operation(&caller, &operation, verb).await?;
        }
        Need::Whole(resource, verb) => gate.whole(&caller, resource, verb).await?,
    }
    Ok((caller, counted))
}

/// Who asks. Where nothing is configured that could tell, nobody in particular.
async fn caller(services: &Services, request: &ServiceRequest) -> Result<Caller, ApiError> {
    let address = request.peer_addr().map(|peer| peer.ip().to_string());
    if !services.authenticators.are_configured() {
        return Ok(Caller {
            identity: None,
            address,
        });
    }
    let identity = services
        .authenticators
        .authenticate(bearer(request)?)
        .await?;
    Ok(Caller {
        identity: Some(identity),
        address,
    })
}

/// The token of `Authorization: Bearer TOKEN` (RFC 6750).
fn bearer(request: &ServiceRequest) -> Result<&str, ApiError> {
    let refused = |message| ApiError::new(ErrorCode::Unauthenticated, message);
    let mut offered = request.headers().get_all(AUTHORIZATION);
    let (Some(first), None) = (offered.next(), offered.next()) else {
        return Err(refused(
            "this request needs a token, once: send it as Authorization: Bearer TOKEN (dm takes it from DM_TOKEN or the kubeconfig)",
        ));
    };
    let token = first.to_str().ok().and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let token = token.filter(|token| !token.is_empty());
    token.ok_or_else(|| {
        refused(
            "the Authorization header is not understood: write it as Authorization: Bearer TOKEN",
        )
    })
}

fn unreadable(error: &actix_web::Error) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidRequest,
        format!("the path cannot be read: {error}"),
    )
}
