//! The checks of each request before routing, in this order: capacity, a valid head, authentication. A request that is
//! rejected here has cost very little.

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{HttpMessage, ResponseError};

use super::head;
use crate::server::answer::error::ApiError;
use crate::server::callers::access::{Door, Stranger};
use crate::server::callers::peer::{self, Peer, Relays};
use crate::server::limits::{Admission, Limits, admit, pace};

/// Passes a request on, or answers it.
pub(in crate::server) async fn pass<B: MessageBody>(
    door: &Door,
    limits: &Limits,
    relays: Option<&dyn Relays>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    // Liveness probes must get an answer under any load.
    if request.path() == "/healthz" {
        return Ok(next.call(request).await?.map_into_left_body());
    }
    if let Some(relays) = relays {
        peer::note_relayed(relays, request.request());
    }
    // Held until the head of the answer is ready.
    let room = limits.take();
    let checked = room.and_then(|room| Ok((room, check(door, &request)?)));
    let _held = match checked {
        Ok(held) => held,
        Err(refusal) => {
            let response = refusal.error_response();
            return Ok(request.into_response(response).map_into_right_body());
        }
    };
    let body = request.take_payload();
    request.set_payload(pace::watched(body));
    Ok(next.call(request).await?.map_into_left_body())
}

fn check(door: &Door, request: &ServiceRequest) -> Result<Admission, ApiError> {
    let head = request.request();
    head::check(head)?;
    match door {
        // Here, only the address distinguishes callers.
        Door::Open(_) => {
            head::check_host(head)?;
            head::check_origin(head)?;
            let address = Peer::from_request(head).address;
            admit(
                head,
                &address.map_or_else(String::new, |address| address.to_string()),
            )
        }
        // The route authenticates these callers.
        Door::Checked => Ok(Admission::default()),
        Door::Manager(callers) => {
            match callers.admit(head) {
                Err(_) if request.path() == "/readyz" => {
                    request.extensions_mut().insert(Stranger);
                }
                outcome => outcome?,
            }
            Ok(Admission::default())
        }
    }
}
