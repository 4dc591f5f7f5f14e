//! The caller of a request: its bearer token, the session of its browser, or the client certificate of its connection.

use std::net::IpAddr;

use actix_web::dev::ServiceRequest;
use actix_web::http::header::AUTHORIZATION;
use common::api::error::ErrorCode;
use common::model::Identity;
use common::server::{ApiError, Peer};

use crate::service::Services;

/// The header in which proxies pass on the client's address.
const FORWARDED: &str = "x-forwarded-for";

/// The caller's identity, or none if no authentication is configured.
pub async fn identity(
    services: &Services,
    request: &ServiceRequest,
) -> Result<Option<Identity>, ApiError> {
    let authenticators = &services.authenticators;
    if !authenticators.are_configured() {
        return Ok(None);
    }
    let shown = Peer::from_request(request.request()).certificate;
    if !request.headers().contains_key(AUTHORIZATION)
        && let Some(certificate) = shown.as_deref()
        && let Some(identity) = authenticators.certificate(certificate)?
    {
        return Ok(Some(identity));
    }
    if let Some(token) = services.browsers.token(request.headers()) {
        return of_session(services, request, &token).await.map(Some);
    }
    Ok(Some(authenticators.authenticate(bearer(request)?).await?))
}

/// The identity of a browser's session.
async fn of_session(
    services: &Services,
    request: &ServiceRequest,
    token: &str,
) -> Result<Identity, ApiError> {
    if request.headers().contains_key(AUTHORIZATION) {
        let message = "the request has a session and an Authorization header: send one of them";
        return Err(ApiError::new(ErrorCode::InvalidRequest, message));
    }
    services.browsers.check_forgery(request.request())?;
    Ok(services.authenticators.authenticate(token).await?)
}

/// The client's address. A proxy's header counts if the operator trusts the proxy. Only its last entry counts, which
/// the proxy wrote itself: anybody may have invented the others.
pub fn address(trusted: &[IpAddr], request: &ServiceRequest) -> Option<String> {
    let peer = Peer::from_request(request.request()).address;
    let peer = peer.or_else(|| request.peer_addr().map(|peer| peer.ip()))?;
    let last = request.headers().get_all(FORWARDED).last();
    let forwarded = last
        .and_then(|value| value.to_str().ok()?.rsplit(',').next())
        .and_then(|address| address.trim().parse::<IpAddr>().ok());
    match trusted.contains(&peer) {
        true => Some(forwarded.unwrap_or(peer).to_string()),
        false => Some(peer.to_string()),
    }
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
