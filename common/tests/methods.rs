//! What methods a route has: HEAD where it has GET, and an answer that names them where it has not.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

mod loopback;

use std::convert::Infallible;
use std::time::Duration;

use actix_web::web::{self, Bytes};
use actix_web::{HttpResponse, Responder, http};
use common::server::{CallerPolicy, at};
use futures::stream;
use reqwest::{Method, Response};

const PATIENCE: Duration = Duration::from_secs(20);

async fn whole() -> impl Responder {
    HttpResponse::Ok().body("seven b")
}

/// Never comes to its end.
async fn endless() -> impl Responder {
    let more = stream::repeat_with(|| Ok::<_, Infallible>(Bytes::from_static(b"more")));
    HttpResponse::Ok().streaming(more)
}

async fn start() -> String {
    loopback::start(CallerPolicy::Checked, |routes| {
        let get = (http::Method::GET, web::to(whole));
        let post = || (http::Method::POST, web::to(whole));
        routes.service(at("/whole", [get, post()]));
        routes.service(at("/endless", [(http::Method::GET, web::to(endless))]));
        routes.service(at("/post", [post()]));
    })
    .await
}

async fn ask(url: &str, method: Method, path: &str) -> Response {
    let client = common::client::http::builder().no_proxy().timeout(PATIENCE);
    let request = client
        .build()
        .unwrap()
        .request(method, format!("{url}{path}"));
    request.send().await.unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response
        .headers()
        .get(name)
        .map(|value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn head_is_get_without_its_body() {
    let url = start().await;
    let response = ask(&url, Method::HEAD, "/whole").await;
    assert_eq!(response.status(), 200);
    assert_eq!(header(&response, "content-length"), Some("7"));
    assert_eq!(response.bytes().await.unwrap().len(), 0);
    let response = ask(&url, Method::HEAD, "/healthz").await;
    assert_eq!(response.status(), 200);
    let response = ask(&url, Method::HEAD, "/absent").await;
    assert_eq!(response.status(), 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn head_of_what_is_streamed_ends_without_it() {
    let url = start().await;
    let response = ask(&url, Method::HEAD, "/endless").await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.bytes().await.unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_a_route_has_not_is_answered_with_those_that_it_has() {
    let url = start().await;
    for (path, method, allowed) in [
        ("/whole", Method::DELETE, "GET, HEAD, POST"),
        ("/endless", Method::POST, "GET, HEAD"),
        ("/post", Method::HEAD, "POST"),
    ] {
        let response = ask(&url, method, path).await;
        assert_eq!(response.status(), 405, "{path}");
        assert_eq!(header(&response, "allow"), Some(allowed), "{path}");
    }
}
