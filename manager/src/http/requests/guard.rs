//! Authenticates and authorizes every request before its handler runs.
//!
//! Each line of the route table names its [`Need`], and a line without one does not compile. The guard decides before a
//! body is read. Use cases get the [`Caller`], and decide about what the body names.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::{Data, Path};
use actix_web::{HttpMessage, ResponseError};
use common::api::error::ErrorCode;
use common::model::{DeploymentName, OperationId};
use common::server::limits::{self, Admission};
use common::server::{ApiError, Stranger};
use serde::Deserialize;

use super::extract::name;
use super::{audited, identify};
use crate::auth::{Caller, Resource, Verb};
use crate::service::Services;

/// What a route requires of its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: for probes, and for clients that do not know yet how to authenticate. A known caller may get more detail.
    Nothing,
    /// A known caller.
    Authenticated,
    /// A known caller. The answer holds only what the caller may see.
    Filtered,
    /// Permission in the namespace that the body names. The use case checks it.
    InBody,
    /// Permission for the deployment in the path.
    Deployment(Verb),
    /// Permission for the deployment of the operation in the path.
    Operation(Verb),
    /// Permission for everything of a kind that belongs to no namespace.
    ClusterScoped(Resource, Verb),
}

impl Need {
    /// Whether the audit log records it. Backups are recorded too.
    pub fn writes(self) -> bool {
        match self {
            Self::Nothing | Self::Authenticated | Self::Filtered => false,
            Self::InBody | Self::ClusterScoped(Resource::Store, _) => true,
            Self::Deployment(verb) | Self::Operation(verb) | Self::ClusterScoped(_, verb) => {
                !matches!(verb, Verb::Get | Verb::List)
            }
        }
    }
}

#[derive(Deserialize)]
struct DeploymentInPath {
    deployment: String,
}

#[derive(Deserialize)]
struct OperationInPath {
    operation: String,
}

/// Rejects callers without permission before the handler runs.
pub async fn guard<B: MessageBody>(
    need: Need,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let (response, refused) = match admit(need, &mut request).await {
        Ok(_counted) => (next.call(request).await?.map_into_left_body(), None),
        Err(error) => {
            let refusal = error.error_response();
            let response = request.into_response(refusal).map_into_right_body();
            (response, Some(error.0.code))
        }
    };
    audited::record(need, refused, &response);
    Ok(response)
}

/// Records the caller for everything that follows, and counts the request against the limits of that caller.
async fn admit(need: Need, request: &mut ServiceRequest) -> Result<Admission, ApiError> {
    let services = request.app_data::<Data<Services>>().cloned();
    let missing = || ApiError::new(ErrorCode::Internal, "the service is not wired");
    let services = services.ok_or_else(missing)?;
    let mut caller = Caller {
        identity: None,
        address: identify::address(&services.trusted_proxies, request),
    };
    // Set before authentication, so that refusals are logged with the address.
    request.extensions_mut().insert(caller.clone());
    match (identify::identity(&services, request).await, need) {
        (Ok(identity), _) => caller.identity = identity,
        (Err(_), Need::Nothing) => {
            request.extensions_mut().insert(Stranger);
        }
        (Err(error), _) => return Err(error),
    }
    request.extensions_mut().insert(caller.clone());
    let counted = match &caller.identity {
        Some(identity) => limits::admit(request.request(), identity.user())?,
        None => Admission::default(),
    };
    let gate = &services.gate;
    match need {
        Need::Nothing | Need::Authenticated | Need::Filtered | Need::InBody => {}
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
        Need::ClusterScoped(resource, verb) => gate.cluster_scoped(&caller, resource, verb).await?,
    }
    Ok(counted)
}

fn unreadable(error: &actix_web::Error) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidRequest,
        format!("the path cannot be read: {error}"),
    )
}
