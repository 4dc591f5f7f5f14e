//! What a manager does that waits for the store: it listens, and passes each request on to the manager that has it.
//!
//! ```text
//! caller ─► a waiting manager ─► the manager that has the store (its owner)
//!                │                     │ dies
//!                │◄── no answer ───────┘
//!                └── waits for the next owner, and sends what is safe to repeat once more
//! ```
//!
//! Some reads it answers by itself, without the owner ([`own`]).
//!
//! An owner that is to stop does the same: it gives the store up first, and passes on what it has in hand ([`leaving`]).
//!
//! So every manager on one etcd answers every request, and a caller need not know which one works. It does not know what
//! the requests mean: only whether one may be sent twice.

pub mod advertised;
mod forward;
mod leaving;
mod own;
mod proof;
mod repeatable;
mod standby;

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, ResponseError, Route};
use bytes::Bytes;
use common::api::error::ErrorCode;
use common::client::ClientAccess;
use common::server::observe::health::{Check, readiness};
use common::server::observe::metrics;
use common::server::{AnyBody, ApiError, at, is_relayed};
use tokio::sync::watch;
use tokio::time::timeout;

use self::forward::Relay;
use crate::keys::Ring;
use crate::store::kv::Owner;

pub use self::leaving::Leaving;
pub use self::own::own_first;
pub use self::proof::Proof;
pub use self::repeatable::Repeatable;
pub use self::standby::Standby;

/// In answers of a manager that was taken for the owner, and is not: the request was not looked at.
const NOT_OWNER: &str = "dm-not-owner";
/// In answers of an owner that stops, to requests that it could not finish: the next owner goes on.
const STOPPING: &str = "dm-stopping";

/// Callers that ask whether a manager is ready do not wait long.
const READY: Duration = Duration::from_secs(3);

/// Relays of one listener.
#[derive(Debug, Clone)]
pub struct Relays(Arc<Relay>);

impl Relays {
    /// `url` gives the address of the owner's listener, and `repeatable` says which requests may be sent twice.
    ///
    /// # Errors
    /// If the client cannot be built.
    pub fn new(
        owner: watch::Receiver<Option<Owner>>,
        url: fn(&Owner) -> Option<&str>,
        repeatable: Repeatable,
        access: &ClientAccess,
        ring: Arc<Ring>,
    ) -> reqwest::Result<Self> {
        let relay = Relay::new(owner, url, repeatable, access, Proof::new(ring))?;
        Ok(Self(Arc::new(relay)))
    }

    /// All paths. `own` adds those that this manager may answer by itself.
    pub fn routes(&self, routes: &mut ServiceConfig, own: impl FnOnce(&mut ServiceConfig)) {
        routes
            .app_data(Data::from(self.0.clone()))
            .service(at("/readyz", [(Method::GET, web::to(ready))]))
            .service(at("/metrics", [(Method::GET, web::to(own_metrics))]))
            .configure(own)
            .service(web::resource("/{path:.*}").to(pass_on));
    }
}

/// A route whose requests are passed on.
pub fn passed_on() -> Route {
    web::to(pass_on)
}

async fn pass_on(relay: Data<Relay>, request: HttpRequest, body: AnyBody) -> HttpResponse {
    if is_relayed(&request) {
        return not_owner();
    }
    let forwarded = relay.forward(&request, Bytes::from(body.0)).await;
    forwarded.unwrap_or_else(|error| error.error_response())
}

/// The owner's readiness: a waiting manager is ready to pass requests on when that one is ready.
async fn ready(relay: Data<Relay>, request: HttpRequest) -> HttpResponse {
    if is_relayed(&request) {
        return not_owner();
    }
    let message = match relay.has_owner() {
        true => match timeout(READY, relay.forward(&request, Bytes::new())).await {
            Ok(answer) => return answer.unwrap_or_else(|error| error.error_response()),
            Err(_) => {
                "the manager that has the store does not answer: another one takes it when its lease ends"
            }
        },
        false => {
            "no manager has the store at the moment: one takes it when the lease of the last one ends"
        }
    };
    readiness(&request, vec![Check::down("owner", message)])
}

/// The metrics of this process, for callers that the owner knows.
async fn own_metrics(relay: Data<Relay>, request: HttpRequest) -> HttpResponse {
    if is_relayed(&request) {
        return not_owner();
    }
    let allowed = match relay.is_known(&request).await {
        Ok(None) => metrics::metrics().await,
        Ok(Some(refusal)) => return refusal,
        Err(error) => Err(error),
    };
    allowed.unwrap_or_else(|error| error.error_response())
}

/// It closes the connection. Another one may reach the server that the same process has had since it has the store.
fn not_owner() -> HttpResponse {
    let error = ApiError::new(
        ErrorCode::Unavailable,
        "this manager does not have the store: try again",
    );
    let mut answer = error.error_response();
    mark(answer.headers_mut(), NOT_OWNER);
    answer.head_mut().set_connection_type(ConnectionType::Close);
    answer
}

fn mark(headers: &mut HeaderMap, name: &'static str) {
    headers.insert(
        HeaderName::from_static(name),
        HeaderValue::from_static("true"),
    );
}
