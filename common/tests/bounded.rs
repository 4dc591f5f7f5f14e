//! Bodies and answers are bounded while they come, before any value is made of them.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

mod loopback;

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use bytes::Bytes;
use common::api::deployer::StatusRequest;
use common::api::error::{ErrorBody, ErrorCode};
use common::client::http::Endpoint;
use common::client::{ClientAccess, ClientError, DeployerClient};
use common::json::Limits;
use common::server::{Body, CallerPolicy};
use futures::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// An answer that never ends: only a client that counts as it reads comes back from it.
fn endless(first: &'static str, next: &'static str) -> HttpResponse {
    let next = Bytes::from(next.repeat(10_000));
    let parts = futures::stream::iter([Bytes::from(first)])
        .chain(futures::stream::repeat(next))
        .map(Ok::<_, std::convert::Infallible>);
    HttpResponse::Ok().streaming(parts)
}

async fn taken(Body(body): Body<Value>) -> HttpResponse {
    HttpResponse::Ok().json(json!({ "fields": body.as_object().map(serde_json::Map::len) }))
}

async fn start() -> String {
    loopback::start(CallerPolicy::Open("authentication"), routes).await
}

fn routes(config: &mut web::ServiceConfig) {
    config
        .route("/taken", web::post().to(taken))
        .route("/values", web::get().to(async || endless("[0", ",0")))
        .route("/levels", web::get().to(async || endless("[", "[")))
        .route("/text", web::get().to(async || endless("\"", "x")))
        .route("/refused", web::get().to(refusal))
        .route(
            "/configurations/status",
            web::post().to(async || endless("[0", ",0")),
        );
}

async fn refusal() -> HttpResponse {
    let mut answer = endless("{\"code\":\"INTERNAL\",\"causes\":[0", ",0");
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint::new("the service", url, Limits::ANSWER, &ClientAccess::default()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_ends_with_the_first_value_level_or_byte_too_many() {
    let url = start().await;
    let client = endpoint(&url);
    for (path, expected) in [
        ("values", "holds more than 2000000 values"),
        ("levels", "nested deeper than 127 levels"),
        ("text", "more than 128 MiB"),
        ("refused", "holds more than 400000 values"),
    ] {
        let request = client.request(Method::GET, &[path]);
        let error = client
            .fetch::<Value>(request, Some(PATIENCE))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ClientError::TooLarge { .. }),
            "{path}: {error}"
        );
        assert!(error.to_string().contains(expected), "{path}: {error}");
        let body = error.into_body(ErrorCode::Unavailable);
        assert_eq!(body.code, ErrorCode::PayloadTooLarge);
    }
    let deployer = DeployerClient::new(&url, &ClientAccess::default()).unwrap();
    let status: StatusRequest = serde_json::from_value(json!({"objects": []})).unwrap();
    let error = deployer.status(status.into(), PATIENCE).await.unwrap_err();
    assert!(matches!(error, ClientError::TooLarge { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_too_many_values_or_levels_has_a_code_and_an_advice() {
    let url = start().await;
    let client = endpoint(&url);
    let send = async |body: String| {
        let request = client.request(Method::POST, &["taken"]).body(body);
        client.fetch::<Value>(request, Some(PATIENCE)).await
    };
    let refused = async |body: String| -> ErrorBody {
        match send(body).await {
            Err(ClientError::Answered(body)) => *body,
            other => unreachable!("{other:?}"),
        }
    };
    let values = Limits::REQUEST.values;
    let large = |zeros: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(zeros - 1));
    // The object, its field's name and the list count as well.
    assert_eq!(send(large(values - 3)).await.unwrap(), json!({"fields": 1}));
    let error = refused(large(values - 2)).await;
    assert_eq!(error.code, ErrorCode::PayloadTooLarge);
    let expected = format!("the body is too large: it holds more than {values} values");
    assert!(error.message.starts_with(&expected), "{}", error.message);

    let deep = |levels: usize| {
        let (open, close) = ("[".repeat(levels - 1), "]".repeat(levels - 1));
        format!("{{\"a\":{open}{close}}}")
    };
    let depth = Limits::REQUEST.depth;
    assert_eq!(send(deep(depth)).await.unwrap(), json!({"fields": 1}));
    let error = refused(deep(depth + 1)).await;
    assert_eq!(error.code, ErrorCode::PayloadTooLarge);
    assert!(error.message.contains("127 levels"), "{}", error.message);
}
