//! `/ui/session`: how a person signs in to the page, and out of it.
//!
//! The cookie holds the id of a session, `HttpOnly` and `SameSite=Lax`. `Strict` would lose it on the way back from the issuer.

use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header::{LOCATION, SET_COOKIE};
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use common::api::error::ErrorCode;
use common::server::{ApiError, Body, Query, at};
use serde::{Deserialize, Serialize};

use crate::auth::sign_in::{CALLBACK, PATIENCE};
use crate::auth::{BrowserAccess, cookies, session_cookies};

/// Holds the state of a sign-in at the issuer.
const STATE: &str = "dm-sign-in";

/// What the page has to know before anybody signed in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Ways {
    /// Whether callers are authenticated at all.
    required: bool,
    /// Whether an issuer signs people in.
    issuer: bool,
    /// Whether this browser has a session.
    session: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PastedToken {
    token: String,
}

#[derive(Debug, Deserialize)]
struct Return {
    #[serde(default)]
    to: String,
}

/// Further parameters of issuers, such as `iss` and `session_state`, are let be.
#[derive(Debug, Deserialize)]
struct Answer {
    code: Option<String>,
    state: Option<String>,
}

pub fn routes(routes: &mut ServiceConfig, access: &BrowserAccess) {
    routes.app_data(Data::new(access.clone()));
    let own = [
        (Method::GET, web::to(ways)),
        (Method::POST, web::to(paste)),
        (Method::DELETE, web::to(sign_out)),
    ];
    routes.service(at("/ui/session", own));
    routes.service(at("/ui/session/sign-in", [(Method::GET, web::to(sign_in))]));
    routes.service(at(CALLBACK, [(Method::GET, web::to(callback))]));
}

async fn ways(access: Data<BrowserAccess>, request: HttpRequest) -> HttpResponse {
    let id = session_cookies(request.headers()).next();
    HttpResponse::Ok().json(Ways {
        required: access.authenticators.are_configured(),
        issuer: access.sign_in.is_some(),
        session: id.is_some_and(|id| access.sessions.token(id).is_some()),
    })
}

/// A session for a token that somebody pasted.
async fn paste(
    access: Data<BrowserAccess>,
    request: HttpRequest,
    Body(body): Body<PastedToken>,
) -> Result<HttpResponse, ApiError> {
    access.check_forgery(&request)?;
    let cookie = begin(&access, &request, body.token).await?;
    Ok(HttpResponse::NoContent()
        .insert_header((SET_COOKIE, cookie))
        .finish())
}

async fn sign_out(
    access: Data<BrowserAccess>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    access.check_forgery(&request)?;
    for id in session_cookies(request.headers()) {
        access.sessions.end(id);
    }
    let cookie = Cookie {
        name: access.cookie_name(&request),
        value: "",
        path: "/",
        lifetime: Some(Duration::ZERO),
    };
    Ok(HttpResponse::NoContent()
        .insert_header((SET_COOKIE, cookie.written(&access, &request)))
        .finish())
}

async fn sign_in(
    access: Data<BrowserAccess>,
    request: HttpRequest,
    Query(wanted): Query<Return>,
) -> Result<HttpResponse, ApiError> {
    let no_issuer = "this manager has no issuer for the page: give it --auth-oidc-issuer and --public-url, or paste a token";
    let flow = access.sign_in.as_ref();
    let flow = flow.ok_or_else(|| ApiError::new(ErrorCode::NotFound, no_issuer))?;
    let begun = flow.begin(&wanted.to).await.map_err(|error| {
        tracing::warn!("a sign-in cannot begin: {error}");
        ApiError::new(ErrorCode::Unavailable, error.to_string())
    })?;
    let cookie = state_cookie(&begun.state, PATIENCE);
    Ok(HttpResponse::Found()
        .insert_header((LOCATION, begun.location))
        .insert_header((SET_COOKIE, cookie.written(&access, &request)))
        .finish())
}

/// The issuer sends the browser here. What went wrong is in the log; the page says a constant text.
async fn callback(
    access: Data<BrowserAccess>,
    request: HttpRequest,
    Query(answer): Query<Answer>,
) -> HttpResponse {
    let gone = state_cookie("", Duration::ZERO).written(&access, &request);
    let mut response = HttpResponse::Found();
    response.append_header((SET_COOKIE, gone));
    match signed_in(&access, &request, answer).await {
        Ok((cookie, return_to)) => response
            .append_header((SET_COOKIE, cookie))
            .insert_header((LOCATION, return_to)),
        Err(error) => {
            tracing::warn!("a sign-in failed: {}", error.0.message);
            response.insert_header((LOCATION, "/ui/sign-in?failed=1"))
        }
    };
    response.finish()
}

async fn signed_in(
    access: &BrowserAccess,
    request: &HttpRequest,
    answer: Answer,
) -> Result<(String, String), ApiError> {
    let refused = |message: String| ApiError::new(ErrorCode::Unauthenticated, message);
    let flow = access.sign_in.as_ref();
    let flow = flow.ok_or_else(|| refused("there is no issuer".to_owned()))?;
    let (Some(code), Some(state)) = (answer.code, answer.state) else {
        return Err(refused("the issuer's answer has no code".to_owned()));
    };
    let mut kept = cookies(request.headers()).filter(|(name, _)| *name == STATE);
    let kept = kept.next().map(|(_, value)| value);
    let done = flow.finish(&code, &state, kept).await;
    let done = done.map_err(|error| refused(error.to_string()))?;
    Ok((begin(access, request, done.token).await?, done.return_to))
}

/// The cookie of a new session, if the token is accepted.
async fn begin(
    access: &BrowserAccess,
    request: &HttpRequest,
    token: String,
) -> Result<String, ApiError> {
    access.authenticators.authenticate(&token).await?;
    for id in session_cookies(request.headers()) {
        access.sessions.end(id);
    }
    let id = access.sessions.begin(token);
    let id = id.map_err(|error| ApiError::new(ErrorCode::Unavailable, error.to_string()))?;
    let cookie = Cookie {
        name: access.cookie_name(request),
        value: &id,
        path: "/",
        lifetime: None,
    };
    Ok(cookie.written(access, request))
}

fn state_cookie(state: &str, lifetime: Duration) -> Cookie<'_> {
    Cookie {
        name: STATE,
        value: state,
        path: "/ui/session",
        lifetime: Some(lifetime),
    }
}

/// Written by hand: all values are ours, and a crate for it would come with a feature that builds the server anew.
struct Cookie<'a> {
    name: &'static str,
    value: &'a str,
    path: &'static str,
    /// Absent: until the browser is closed.
    lifetime: Option<Duration>,
}

impl Cookie<'_> {
    fn written(&self, access: &BrowserAccess, request: &HttpRequest) -> String {
        let Self {
            name, value, path, ..
        } = self;
        let age = self.lifetime.map_or_else(String::new, |lifetime| {
            format!("; Max-Age={}", lifetime.as_secs())
        });
        let secure = if access.is_encrypted(request) {
            "; Secure"
        } else {
            ""
        };
        format!("{name}={value}; Path={path}; HttpOnly; SameSite=Lax{age}{secure}")
    }
}
