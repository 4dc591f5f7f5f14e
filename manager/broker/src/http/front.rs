//! The checks of each request before its handler, in the order of the protocol: the caller, the version, the originating
//! identity. The answer repeats the request's identity.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, ResponseError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::Front;
use super::witness::{Answered, is_notable};
use crate::error::BrokerError;
use crate::options::ApiVersion;
use crate::record::Caller;

const VERSION: &str = "x-broker-api-version";
const ORIGINATING: &str = "x-broker-api-originating-identity";
const REQUEST: &str = "x-broker-api-request-identity";

pub async fn check<B: MessageBody>(
    front: &Front,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let identity = request.headers().get(REQUEST).cloned();
    let (method, address) = (request.method().clone(), request.peer_addr());
    let mut user = String::new();
    let mut response = match caller(front, request.headers()) {
        Ok(caller) => {
            tracing::info!(
                user = caller.user,
                platform = caller
                    .originating
                    .as_ref()
                    .map(|(platform, _)| platform.as_str()),
                identity = identity.as_ref().and_then(|value| value.to_str().ok()),
                "{} {}",
                request.method(),
                request.path()
            );
            user.clone_from(&caller.user);
            request.extensions_mut().insert(caller);
            next.call(request).await?.map_into_left_body()
        }
        Err(refusal) => {
            let response = refusal.error_response();
            request.into_response(response).map_into_right_body()
        }
    };
    if let Some(witness) = &front.witness
        && is_notable(&method, response.status())
    {
        witness.answered(&Answered {
            user: &user,
            address: address.map(|address| address.ip().to_string()),
            method: method.as_str(),
            route: response.request().match_pattern().unwrap_or_default(),
            status: response.status().as_u16(),
        });
    }
    if let Some(identity) = identity {
        let name = HeaderName::from_static(REQUEST);
        response.headers_mut().insert(name, identity);
    }
    Ok(response)
}

fn caller(front: &Front, headers: &HeaderMap) -> Result<Caller, BrokerError> {
    let unknown = || BrokerError::new(401, "the user or the password is not known");
    let header = once(headers, AUTHORIZATION.as_str()).map_err(|()| unknown())?;
    let user = header.and_then(|header| front.access.user(header));
    let user = user.ok_or_else(unknown)?;
    version(front, headers)?;
    let originating = once(headers, ORIGINATING)
        .map_err(|()| repeated(ORIGINATING))?
        .map(originating)
        .transpose()?;
    Ok(Caller { user, originating })
}

fn version(front: &Front, headers: &HeaderMap) -> Result<(), BrokerError> {
    let Some(text) = once(headers, VERSION).map_err(|()| repeated(VERSION))? else {
        let status = if front.lenient { 400 } else { 412 };
        let message = format!("X-Broker-API-Version is missing; send {}", front.minimum);
        return Err(BrokerError::new(status, message));
    };
    let version: ApiVersion = text
        .trim()
        .parse()
        .map_err(|error| BrokerError::invalid(format!("X-Broker-API-Version: {error}")))?;
    match version.fits(front.minimum) {
        true => Ok(()),
        false => Err(BrokerError::new(
            412,
            format!(
                "X-Broker-API-Version must be 2.x, at least {}",
                front.minimum
            ),
        )),
    }
}

/// `PLATFORM VALUE`, the value a JSON object in Base64.
fn originating(header: &str) -> Result<(String, Value), BrokerError> {
    let parsed = header.split_once(' ').and_then(|(platform, value)| {
        let bytes = STANDARD.decode(value.trim()).ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        (!platform.is_empty() && value.is_object()).then(|| (platform.to_owned(), value))
    });
    parsed.ok_or_else(|| {
        BrokerError::invalid(
            "X-Broker-API-Originating-Identity must be a platform and a JSON object in Base64",
        )
    })
}

/// The value of a header that may occur once. None if it is absent.
fn once<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).map(HeaderValue::to_str);
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        _ => Err(()),
    }
}

fn repeated(name: &str) -> BrokerError {
    BrokerError::invalid(format!("the header {name} must occur once, as text"))
}
