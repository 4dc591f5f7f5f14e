//! The threads that serve requests go on serving while large input is worked on.

use std::path::Path;

use common::api::deployer::Report;
use common::client::http;
use common::server::{CallerPolicy, Listen, serve};
use reqwest::{Client, StatusCode};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use super::World;

/// A thread that works on the input itself answers a few times at most: between two parts of the work.
const ANSWERS: usize = 20;
/// A question that was asked before the request arrived does not count, nor the last.
const ENOUGH: usize = 2;

/// The service on a port of its own, as long as this lives.
struct Served {
    url: String,
    server: JoinHandle<()>,
}

impl Served {
    async fn new(world: &World) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port_file = folder.path().join("port");
        let address = ([127, 0, 0, 1], 0).into();
        let listen = Listen {
            listen: Some(address),
            port_file: Some(port_file.clone()),
            ..Listen::default()
        };
        let routes = resourcifier::http::routes(world.deployer.clone());
        let server = tokio::spawn(async move {
            let access = CallerPolicy::Open("authentication");
            serve(&listen, address, access, routes).await.unwrap();
        });
        let port = port(&port_file).await;
        Self {
            url: format!("http://127.0.0.1:{port}"),
            server,
        }
    }

    /// How often `/healthz` answered until the request was answered well.
    async fn answers(&self, path: &str, body: &Value) -> usize {
        let (count, status, text) = self.answers_before(path, body).await;
        assert_eq!(status, StatusCode::OK, "{path}: {text:.2000}");
        count
    }

    /// How often `/healthz` answered until the request was answered, and that answer.
    async fn answers_before(&self, path: &str, body: &Value) -> (usize, StatusCode, String) {
        let (client, mut count) = (client(), 0);
        let request = client.post(format!("{}{path}", self.url)).json(body);
        let large = tokio::spawn(async move {
            let answer = request.send().await.unwrap();
            (answer.status(), answer.text().await.unwrap())
        });
        while !large.is_finished() {
            let health = client.get(format!("{}/healthz", self.url));
            assert_eq!(health.send().await.unwrap().status(), StatusCode::OK);
            count += 1;
        }
        let (status, text) = large.await.unwrap();
        (count, status, text)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn port(file: &Path) -> String {
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) => return text.trim().to_owned(),
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// Each connection of its own goes to the next of the server's threads.
fn client() -> Client {
    http::builder().pool_max_idle_per_host(0).build().unwrap()
}

/// Many objects, each with many references to the one before it, along a long path.
fn large() -> Value {
    let path = "data.a".to_owned() + &"[0]".repeat(60);
    let map = |n: usize| {
        let references = |m: usize| format!("$(ref.map-{}.{path}) {m}", n.saturating_sub(1));
        let data: Vec<String> = match n {
            0 => Vec::new(),
            _ => (0..50).map(references).collect(),
        };
        json!({"name": format!("map-{n}"), "type": "ConfigMap", "properties": {"data": {"texts": data}}})
    };
    (0..400).map(map).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_large_input_is_worked_on() {
    let world = World::new();
    let served = Served::new(&world).await;
    let request = json!({
        "deployment": "web", "namespace": "home", "resources": large(), "recorded": [], "timeoutMs": 60_000,
    });
    let desired = json!({"deployment": "web", "namespace": "home", "resources": large()});
    let status = json!({"deployment": "web", "objects": [], "desired": desired});
    for (path, body) in [
        ("/configurations/check", &request),
        ("/configurations/diff", &request),
        ("/configurations/status", &status),
    ] {
        let count = served.answers(path, body).await;
        assert!(count >= ANSWERS, "{path}: {count} answers");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_paths_are_refused_that_are_far_too_long() {
    let world = World::new();
    let served = Served::new(&world).await;
    let reference = format!("$(ref.a.{})", vec!["b"; 100_000].join("."));
    let resources = json!([
        {"name": "a", "type": "ConfigMap"},
        {"name": "b", "type": "ConfigMap", "properties": {"data": vec![reference; 50]}},
    ]);
    let body = json!({
        "deployment": "web", "namespace": "home", "resources": resources, "recorded": [], "timeoutMs": 60_000,
    });
    for path in ["/configurations/check", "/configurations/diff"] {
        let (count, status, text) = served.answers_before(path, &body).await;
        assert!(status.is_client_error(), "{path}: {status} {text:.2000}");
        assert!(
            text.contains("has no valid path") && text.len() < 2000,
            "{path}: {text:.2000}"
        );
        assert!(count >= ENOUGH, "{path}: {count} answers");
    }
}

/// Many objects, each with many fields.
fn wide() -> Value {
    let data: Map<String, Value> = (0..200)
        .map(|n| (format!("key-{n}"), json!("value")))
        .collect();
    let map = |n: usize| json!({"name": format!("map-{n}"), "type": "ConfigMap", "properties": {"data": data}});
    (0..400).map(map).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_answered_while_live_objects_are_compared() {
    let world = World::new();
    let applied = world.apply(wide(), &Report::default()).await;
    let served = Served::new(&world).await;
    let desired = json!({"deployment": "web", "namespace": "home", "resources": wide()});
    let body = json!({"deployment": "web", "objects": applied.objects, "desired": desired});
    let count = served.answers("/configurations/status", &body).await;
    assert!(count >= ANSWERS, "{count} answers");
}
