//! What a manager does that has the store on etcd and is to stop, while others wait for it.
//!
//! ```text
//! SIGTERM ─► operations are suspended ─► the store is given up ─► the next owner
//!                                                                   ▲
//! requests in hand, and those that still come ──────passed on───────┘
//! ```
//!
//! So nobody waits for the requests that this manager still has in hand.

use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::{ConnectionType, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Bytes, Data, ServiceConfig};
use actix_web::{ResponseError as _, http::header};
use common::api::error::ErrorCode;
use common::server::{AnyBody, ApiError, is_relayed};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::forward::Message;
use super::repeatable::KEY;
use super::{Relays, STOPPING, mark, not_owner, own_metrics, pass_on, ready};

/// Most requests end within it, and are not passed on.
const SOON: Duration = Duration::from_millis(250);

/// When the owner leaves. Clones share it.
#[derive(Debug, Clone)]
pub struct Leaving(Arc<State>);

#[derive(Debug)]
struct State {
    /// Once it leaves: until when requests in hand may take.
    until: watch::Sender<Option<Instant>>,
    /// The requests that came before.
    in_hand: TaskTracker,
}

impl Default for Leaving {
    fn default() -> Self {
        Self(Arc::new(State {
            until: watch::Sender::new(None),
            in_hand: TaskTracker::new(),
        }))
    }
}

impl Leaving {
    /// From now on, new requests are passed on. Those in hand are answered within this time.
    pub fn begin(&self, patience: Duration) {
        self.0.until.send_replace(Some(Instant::now() + patience));
        self.0.in_hand.close();
    }

    /// Waits for requests that end soon.
    pub async fn short_requests(&self) {
        let _ = timeout(SOON, self.0.in_hand.wait()).await;
    }

    /// Waits until the requests that came before are answered, as long as they may take.
    pub async fn requests(&self) {
        let until = *self.0.until.borrow();
        if let Some(until) = until {
            let _ = timeout_at(until, self.0.in_hand.wait()).await;
        }
    }

    /// Routes whose requests are passed on when this manager leaves. Without relays, they are as they were.
    pub fn routes(
        &self,
        config: &mut ServiceConfig,
        relays: Option<Relays>,
        routes: impl FnOnce(&mut ServiceConfig),
    ) {
        let Some(relays) = relays else {
            return routes(config);
        };
        let leaving = self.clone();
        let around = from_fn(move |request, next| {
            let (leaving, relays) = (leaving.clone(), relays.clone());
            async move { leaving.around(&relays, request, next).await }
        });
        config.service(web::scope("").configure(routes).wrap(around));
    }

    async fn around<B: MessageBody + 'static>(
        &self,
        relays: &Relays,
        mut request: ServiceRequest,
        next: Next<B>,
    ) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
        let Some(_in_hand) = self.takes() else {
            return Ok(self.late(relays, request).await);
        };
        if is_relayed(request.request()) {
            let answer = next.call(request).await?.map_into_boxed_body();
            return Ok(self.for_another_manager(answer));
        }
        let message = match kept(relays, &mut request).await {
            Ok(message) => message,
            Err(refusal) => return Ok(request.into_response(refusal.error_response())),
        };
        let answer = next.call(request).await;
        let Some(message) = message.filter(|_| self.is_unfinished(&answer)) else {
            return answer.map(ServiceResponse::map_into_boxed_body);
        };
        let Some(passed) = self.in_time(relays.0.send_on(&message)).await else {
            return answer.map(ServiceResponse::map_into_boxed_body);
        };
        let passed = last_of_connection(passed.unwrap_or_else(|error| error.error_response()));
        match answer {
            Ok(answer) => Ok(answer.into_response(passed)),
            Err(_) => Err(InternalError::from_response("", passed).into()),
        }
    }

    /// None if it leaves already.
    fn takes(&self) -> Option<TaskTrackerToken> {
        let token = self.0.in_hand.token();
        self.0.until.borrow().is_none().then_some(token)
    }

    /// A request that came after the end began.
    async fn late(&self, relays: &Relays, request: ServiceRequest) -> ServiceResponse<BoxBody> {
        let (request, mut payload) = request.into_parts();
        if is_relayed(&request) {
            return ServiceResponse::new(request, not_owner());
        }
        let relay = Data::from(relays.0.clone());
        let passed = async {
            match request.path() {
                "/readyz" => ready(relay, request.clone()).await,
                "/metrics" => own_metrics(relay, request.clone()).await,
                _ => {
                    match <AnyBody as actix_web::FromRequest>::from_request(&request, &mut payload)
                        .await
                    {
                        Ok(body) => pass_on(relay, request.clone(), body).await,
                        Err(refusal) => refusal.error_response(),
                    }
                }
            }
        };
        let answer = self.in_time(passed).await.unwrap_or_else(|| {
            let message = "this manager is stopping, and no other one has taken its store over yet: try again";
            ApiError::new(ErrorCode::Unavailable, message).error_response()
        });
        ServiceResponse::new(request, last_of_connection(answer))
    }

    /// The answer to another manager: that one sends the request again to the next owner.
    fn for_another_manager(
        &self,
        mut answer: ServiceResponse<BoxBody>,
    ) -> ServiceResponse<BoxBody> {
        let is_last = self.0.until.borrow().is_some();
        if is_last && answer.status() == StatusCode::SERVICE_UNAVAILABLE {
            mark(answer.headers_mut(), STOPPING);
        }
        answer
    }

    /// Whether the next owner may answer what this manager could not.
    fn is_unfinished<B>(&self, answer: &Result<ServiceResponse<B>, actix_web::Error>) -> bool {
        let status = match answer {
            Ok(answer) => answer.status(),
            Err(error) => error.as_response_error().status_code(),
        };
        status == StatusCode::SERVICE_UNAVAILABLE && self.0.until.borrow().is_some()
    }

    /// None if the time was over before.
    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut until = self.0.until.subscribe();
        let over = async {
            match until
                .wait_for(Option::is_some)
                .await
                .ok()
                .and_then(|until| *until)
            {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            done = work => Some(done),
            () = over => None,
        }
    }
}

/// What is sent on if this manager leaves before it has answered. None if the request is not safe to repeat.
async fn kept(relays: &Relays, request: &mut ServiceRequest) -> Result<Option<Message>, ApiError> {
    let (is_repeatable, has_body) = relays.0.is_repeatable(request.request());
    if !is_repeatable {
        return Ok(None);
    }
    let body = match has_body {
        true => Bytes::from(request.extract::<AnyBody>().await?.0),
        false => Bytes::new(),
    };
    let message = relays.0.message(request.request(), body.clone())?;
    if has_body {
        request.set_payload(body.into());
    }
    // This manager must know the request by the same key as the next one.
    if let Some(key) = message
        .key()
        .and_then(|key| header::HeaderValue::from_bytes(key).ok())
    {
        request
            .headers_mut()
            .insert(header::HeaderName::from_static(KEY), key);
    }
    Ok(Some(message))
}

fn last_of_connection(mut answer: HttpResponse) -> HttpResponse {
    answer.head_mut().set_connection_type(ConnectionType::Close);
    answer
}
