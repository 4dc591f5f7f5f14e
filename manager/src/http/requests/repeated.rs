//! Answers a repeated write as it was answered before (`Idempotency-Key`), for writes that start no operation.

use actix_web::body::{BoxBody, EitherBody, MessageBody, to_bytes};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, ETAG, HeaderName, IF_MATCH, LOCATION};
use actix_web::middleware::Next;
use actix_web::web::{Bytes, Data};
use actix_web::{HttpMessage, HttpResponse};
use common::api::error::ErrorCode;
use common::api::manager::IDEMPOTENT_REPLAYED;
use common::server::{AnyBody, ApiError};
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::extract::idempotency_key;
use super::guard::Need;
use crate::auth::Caller;
use crate::service::Services;
use crate::service::writes::answers::{Answer, Repeat};

/// The handler of a route: the noun and the verb.
pub type Handler = (&'static str, &'static str);

/// Whether a request with a key is done once, here or as an operation.
pub fn is_repeatable(need: Need, handler: Handler) -> bool {
    is_kept(need, handler) || (handler.0 == "deployments" && need.writes())
}

/// Whether the answers of the route are kept here.
pub fn is_kept(need: Need, handler: Handler) -> bool {
    match handler {
        // They start operations, which have answers of their own.
        ("deployments", _) => false,
        // The archive may be larger than the memory, and it replaces what is kept.
        ("admin", "restore" | "backup" | "verify" | "formats") => false,
        _ => need.writes(),
    }
}

pub async fn repeated<B: MessageBody>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    let new = match look(&mut request).await {
        Ok(None) => return Ok(next.call(request).await?.map_into_left_body()),
        Ok(Some(Repeat::New(new))) => new,
        Ok(Some(Repeat::Answered(answer))) => {
            let replayed = replayed(answer);
            return Ok(request.into_response(replayed).map_into_right_body());
        }
        Err(error) => return Ok(request.error_response(error).map_into_right_body()),
    };
    let response = new.keyed.clone().during(next.call(request)).await?;
    if new.keyed.is_kept() || !response.status().is_success() {
        return Ok(response.map_into_left_body());
    }
    let (request, response) = response.into_parts();
    let (head, body) = response.into_parts();
    let body = to_bytes(body).await;
    let body = body.map_err(|error| actix_web::error::ErrorInternalServerError(error.into()))?;
    if let Err(error) = new.keep(answer(&head, &body)).await {
        tracing::warn!(%error, "the answer is not kept for repeats of its request: {error}");
    }
    let response = head.set_body(BoxBody::new(body));
    Ok(ServiceResponse::new(request, response).map_into_right_body())
}

/// `None` for a request without a key.
async fn look(request: &mut ServiceRequest) -> Result<Option<Repeat>, ApiError> {
    let Some(key) = idempotency_key(request.request())? else {
        return Ok(None);
    };
    let services = request.app_data::<Data<Services>>().cloned();
    let missing = || ApiError::new(ErrorCode::Internal, "the service is not wired");
    let services = services.ok_or_else(missing)?;
    let caller: Caller = request.extensions().get().cloned().unwrap_or_default();
    let AnyBody(body) = request.extract::<AnyBody>().await?;
    let header = |name: HeaderName| {
        let value = request.headers().get(name);
        value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let target = request.uri().path_and_query();
    let asked = json!({
        "method": request.method().as_str(),
        "target": target.map(ToString::to_string),
        "contentType": header(CONTENT_TYPE),
        "ifMatch": header(IF_MATCH),
        "body": digest(&SHA256, &body).as_ref(),
    });
    let body = futures::stream::once(async { Ok::<_, PayloadError>(Bytes::from(body)) });
    request.set_payload(Payload::Stream {
        payload: Box::pin(body),
    });
    let looked = services
        .answers
        .look(&key, caller.identity.as_ref(), &asked);
    Ok(Some(looked.await?))
}

fn replayed(answer: Answer) -> HttpResponse {
    // It was sent with this status before.
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let mut response = HttpResponse::build(status);
    for (name, value) in [(LOCATION, answer.location), (ETAG, answer.etag)] {
        if let Some(value) = value {
            response.insert_header((name, value));
        }
    }
    response
        .insert_header((IDEMPOTENT_REPLAYED, "true"))
        .content_type("application/json")
        .body(answer.body)
}

fn answer(head: &HttpResponse<()>, body: &[u8]) -> Answer {
    let header = |name: HeaderName| {
        let value = head.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    };
    Answer {
        status: head.status().as_u16(),
        location: header(LOCATION),
        etag: header(ETAG),
        body: String::from_utf8_lossy(body).into_owned(),
    }
}
