//! What a waiting manager answers by itself.
//!
//! ```text
//! caller ─► own answer ─ good ───────────► caller
//!               ├─ any other ─► the owner ─► caller
//!               └─ late ─► the owner too: the first of both
//! ```
//!
//! So these reads go on while no manager has the store. The owner has the last word on everything else: it may know more.

use std::time::Duration;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{Bytes, Data};
use actix_web::{ResponseError as _, Route};
use common::server::{ApiError, is_relayed};
use tokio::time::timeout;

use super::forward::Relay;
use super::not_owner;

/// The owner is asked too after this time.
const SOON: Duration = Duration::from_secs(1);

/// A route that this manager answers if it can. Other requests are passed on.
pub fn own_first(route: Route) -> Route {
    route.wrap(from_fn(answer))
}

async fn answer<B: MessageBody + 'static>(
    relay: Data<Relay>,
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    if is_relayed(request.request()) {
        return Ok(request.into_response(not_owner()));
    }
    let message = match relay.message(request.request(), Bytes::new()) {
        Ok(message) => message,
        Err(refusal) => return Ok(request.into_response(refusal.error_response())),
    };
    let kept = request.request().clone();
    let passed = async {
        let passed = relay.send_on(&message).await;
        let passed = passed.unwrap_or_else(|error: ApiError| error.error_response());
        ServiceResponse::new(kept, passed)
    };
    let own = async {
        let answer = next.call(request).await.ok()?;
        let is_good = answer.status().is_success();
        is_good.then(|| answer.map_into_boxed_body())
    };
    let mut own = std::pin::pin!(own);
    let soon = timeout(SOON, own.as_mut()).await;
    Ok(match soon {
        Ok(Some(answer)) => answer,
        Ok(None) => passed.await,
        Err(_) => tokio::select! {
            Some(answer) = own => answer,
            answer = passed => answer,
        },
    })
}
