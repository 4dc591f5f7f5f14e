//! The requests of a client with several URLs: which instance of the service gets them.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

mod loopback;

use std::collections::{BTreeSet, HashSet};
use std::net::TcpListener;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{self, Json, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use common::api::deployer::{ApplyRequest, Event};
use common::api::error::{ErrorBody, ErrorCode};
use common::api::expander::ExpandRequest;
use common::api::job::{Renewal, StopJobs};
use common::client::{ClientAccess, ClientError, DeployerClient, ExpanderClient};
use common::server::CallerPolicy;
use common::server::observe::health::{Check, readiness};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// The ports of instances that say that they are not ready, and of those that are overloaded.
static UNREADY: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);
static OVERLOADED: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);
/// The ports at which jobs were begun.
static JOBS: LazyLock<Mutex<BTreeSet<u16>>> = LazyLock::new(Mutex::default);

fn port(request: &HttpRequest) -> u16 {
    request.app_config().local_addr().port()
}

async fn readyz(request: HttpRequest) -> HttpResponse {
    let check = match UNREADY.lock().unwrap().contains(&port(&request)) {
        true => Check::down("worker", "it has ended"),
        false => Check::ready("worker", ""),
    };
    readiness(&request, vec![check])
}

/// Its only warning is the port.
async fn expand(request: HttpRequest) -> HttpResponse {
    if OVERLOADED.lock().unwrap().contains(&port(&request)) {
        let error = ErrorBody::new(ErrorCode::TooManyRequests, "too many at once");
        return HttpResponse::build(StatusCode::TOO_MANY_REQUESTS).json(error);
    }
    HttpResponse::Ok().json(json!({
        "config": {"resources": []},
        "layout": {"resources": []},
        "warnings": [port(&request).to_string()],
    }))
}

/// A beat, and silence.
async fn begin(request: HttpRequest) -> HttpResponse {
    JOBS.lock().unwrap().insert(port(&request));
    let beat = futures::stream::iter([web::Bytes::from("{\"event\":\"beat\",\"beat\":0}\n")]);
    let stream = beat.chain(futures::stream::pending());
    HttpResponse::Ok().streaming(stream.map(Ok::<_, std::convert::Infallible>))
}

/// The attempt of an ended job is the port.
async fn stop(request: HttpRequest) -> Json<Value> {
    Json(json!({ "ended": [port(&request)], "earlier": [{"number": 1, "attempts": [0]}] }))
}

async fn renew(request: HttpRequest) -> Json<Value> {
    let known = JOBS.lock().unwrap().contains(&port(&request));
    Json(json!({ "known": known }))
}

fn routes(config: &mut ServiceConfig) {
    config
        .route("/readyz", web::get().to(readyz))
        .route("/expand", web::post().to(expand))
        .route("/configurations", web::put().to(begin))
        .route("/jobs/renew", web::post().to(renew))
        .route("/jobs/stop", web::post().to(stop));
}

/// The URL and the port of an instance.
async fn instance() -> (String, u16) {
    let url = loopback::start(CallerPolicy::Open("authentication"), routes).await;
    let port = url.rsplit(':').next().unwrap().parse().unwrap();
    (url, port)
}

/// Where nothing listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

fn expander(urls: &[&str]) -> Result<ExpanderClient, ClientError> {
    ExpanderClient::new(&urls.join(", "), &ClientAccess::default())
}

/// The port of the instance that expands.
async fn expanded_by(client: &ExpanderClient) -> u16 {
    let request = json!({"name": "web", "content": "", "env": {"deployment": "web", "project": "p", "namespace": "n"}});
    let request: ExpandRequest = serde_json::from_value(request).unwrap();
    let response = client.expand(request, PATIENCE).await.unwrap();
    response.warnings[0].parse().unwrap()
}

async fn expanded_by_any(client: &ExpanderClient) -> BTreeSet<u16> {
    let mut by = BTreeSet::new();
    for _ in 0..6 {
        by.insert(expanded_by(client).await);
    }
    by
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_share_the_work_and_one_that_is_not_there_costs_no_call() {
    let ((first, a), (second, b)) = (instance().await, instance().await);
    let client = expander(&[&first, &second]).unwrap();
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([a, b]));
    let client = expander(&[&nowhere(), &first]).unwrap();
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([a]));
    // One that has too much to do is asked again the next time, and costs no call either.
    let client = expander(&[&first, &second]).unwrap();
    OVERLOADED.lock().unwrap().insert(a);
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([b]));
    OVERLOADED.lock().unwrap().remove(&a);
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([a, b]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_is_not_ready_gets_requests_when_it_is_again() {
    let ((first, a), (second, b)) = (instance().await, instance().await);
    let client = expander(&[&first, &second]).unwrap();
    UNREADY.lock().unwrap().insert(a);
    let reports = client.readiness(PATIENCE).await;
    let ready: Vec<_> = reports
        .into_iter()
        .map(|(url, report)| (url, report.unwrap().ready))
        .collect();
    assert_eq!(ready, [(first, false), (second, true)]);
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([b]));
    // Without a ready one, all are asked.
    UNREADY.lock().unwrap().insert(b);
    client.readiness(PATIENCE).await;
    assert_eq!(expanded_by_any(&client).await, BTreeSet::from([a, b]));
    UNREADY.lock().unwrap().clear();
    // The client finds out by itself.
    tokio::time::timeout(PATIENCE, async {
        while expanded_by_any(&client).await.len() < 2 {}
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_list_of_urls_has_no_empty_and_no_repeated_one() {
    for (urls, expected) in [
        (vec!["http://a:1", ""], "is not a service's address"),
        (vec!["http://a:1", "http://a:1"], "names an instance twice"),
        (vec!["a:1"], "write it like http://"),
    ] {
        let error = expander(&urls).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

fn fence() -> Value {
    json!({"store": "s", "number": 2, "attempt": 0, "leaseMs": 30_000})
}

async fn begun(
    client: &DeployerClient,
) -> std::pin::Pin<Box<impl Stream<Item = Result<Event, ClientError>> + use<>>> {
    let request = json!({
        "deployment": "web", "namespace": "n", "resources": [], "timeoutMs": 60_000, "fence": fence(),
    });
    let request: ApplyRequest = serde_json::from_value(request).unwrap();
    let mut job = Box::pin(client.update(Arc::new(request)).await.unwrap());
    assert_eq!(job.next().await.unwrap().unwrap(), Event::Beat { beat: 0 });
    job
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_of_life_reach_the_instance_of_the_job_and_a_stop_reaches_all() {
    let ((first, a), (second, b), gone) = (instance().await, instance().await, nowhere());
    let urls = [first, gone, second].join(",");
    let client = DeployerClient::new(&urls, &ClientAccess::default()).unwrap();
    let renewal = json!({"deployment": "web", "fence": fence(), "beat": 0});
    let renewal: Renewal = serde_json::from_value(renewal).unwrap();
    // The one that is not there has begun nothing, so another one gets the job.
    let mut seen = BTreeSet::new();
    for _ in 0..6 {
        JOBS.lock().unwrap().clear();
        let job = begun(&client).await;
        let at = JOBS.lock().unwrap().clone();
        assert_eq!(at.len(), 1);
        seen.extend(at);
        assert!(client.renew(&renewal, PATIENCE).await.unwrap().known);
        drop(job);
    }
    assert_eq!(seen, BTreeSet::from([a, b]));
    let stop = json!({"deployment": "web", "fence": fence()});
    let stop: StopJobs = serde_json::from_value(stop).unwrap();
    let stopped = client.stop(&stop, PATIENCE).await.unwrap();
    let ended: BTreeSet<u32> = stopped.ended.into_iter().collect();
    assert_eq!(ended, BTreeSet::from([a.into(), b.into()]));
    assert_eq!(stopped.earlier.len(), 1);
}
