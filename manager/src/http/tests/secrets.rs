//! What schemas mark as secret, and the values of Secrets, are in no answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::*;
use crate::store::kv::{Commit, Key, Kv, KvError, MemoryKv, Scan};
use crate::testing::{TestBed, WrappedKv};

/// What the fake expander marks: a password. It is in an object's environment too.
fn secretive(password: &str) -> Value {
    json!([
        {"name": "app", "type": "pair:v1", "properties": {"password": password}},
        {"name": "key", "type": "Secret", "properties": {"stringData": {"token": "t0ken-of-all"}}},
        {"name": "pod", "type": "Pod", "properties": {"url": format!("postgres://u:{password}@db")}},
    ])
}

async fn all_answers(served: &Served) -> String {
    let mut reported = String::new();
    let manifests = served
        .client
        .manifests(&web(), &PageQuery::default())
        .await
        .unwrap();
    let mut paths: Vec<_> = ["", "/resources", "/graph", "/manifests", "/preview"]
        .iter()
        .map(|path| format!("/deployments/web{path}"))
        .collect();
    for manifest in manifests.items {
        let path = format!("/deployments/web/manifests/{}", manifest.name);
        paths.extend([
            format!("{path}/layout"),
            format!("{path}/layout?path=$.resources[0]"),
            path,
        ]);
    }
    paths.extend(["/operations", "/types/all/instances"].map(str::to_owned));
    for path in paths {
        let answer = send(served, Method::GET, &path, &[], json!({})).await;
        reported += &answer.text().await.unwrap();
    }
    reported
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_in_no_answer() {
    let served = Served::new().await;
    let writes = [
        (
            Method::POST,
            "/deployments",
            creation("web", secretive("hunter2!")),
        ),
        (
            Method::POST,
            "/expand",
            creation("web", secretive("hunter2!")),
        ),
    ];
    let mut reported = String::new();
    for (method, path, request) in writes {
        let mut body = json!(request);
        if path == "/expand" {
            body = json!({"name": "web", "content": request.content});
        }
        let answer = send(&served, method, path, &[], body).await;
        assert!(answer.status().is_success());
        reported += &answer.text().await.unwrap();
    }
    let changed = json!({"content": content(secretive("correct horse"))});
    for (method, path) in [
        (Method::POST, "/deployments/web/diff"),
        (Method::PUT, "/deployments/web?preview=true"),
    ] {
        let answer = send(&served, method, path, &[], changed.clone()).await;
        assert!(answer.status().is_success());
        reported += &answer.text().await.unwrap();
    }
    reported += &all_answers(&served).await;
    for secret in ["hunter2", "correct horse", "t0ken"] {
        assert!(!reported.contains(secret), "{secret}: {reported}");
    }
    assert!(
        reported.contains("postgres://u:(redacted)@db"),
        "{reported}"
    );
    assert!(reported.contains("hmac-sha256:"), "{reported}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_for_a_secret_is_not_taken_for_one() {
    let served = Served::new().await;
    let name = |n: u8| DeploymentName::parse(format!("web{n}")).unwrap();
    let own = json!([{"name": "app", "type": "pair:v1", "properties": {"password": "(redacted)"}}]);
    let passed_on =
        json!([{"name": "pod", "type": "Pod", "properties": {"url": "u:(redacted)@db"}}]);
    for (number, resources) in [(0, own), (1, passed_on)] {
        let request = creation(name(number).as_str(), resources);
        let refused = answered(served.client.create(&request, &WriteQuery::default()).await);
        assert_eq!(refused.code, ErrorCode::InvalidProperties);
        assert!(
            refused.message.contains("write the value itself"),
            "{refused}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_is_told_without_secrets_wherever_it_is_told() {
    let served = Served::new().await;
    let mut resources = secretive("hunter2!");
    resources[2]["name"] = json!(REFUSED);
    resources[2]["properties"] = json!({"message": "hunter2!"});
    let request = creation("web", resources);
    let refused = answered(served.client.create(&request, &WriteQuery::default()).await);
    let reported = format!("{refused:?}{}", all_answers(&served).await);
    assert!(!reported.contains("hunter2"), "{reported}");
}

/// A store from which everything of the manifests is removed before one of its reads.
#[derive(Debug)]
struct RemovingKv {
    inner: Arc<dyn Kv>,
    left: AtomicUsize,
}

#[async_trait]
impl WrappedKv for RemovingKv {
    fn inner(&self) -> &dyn Kv {
        self.inner.as_ref()
    }

    async fn before_read(&self) -> Result<(), KvError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) != 0 {
            return Ok(());
        }
        let all = Scan {
            limit: usize::MAX,
            ..Scan::default()
        };
        let keys = self.inner.scan(all).await?.into_iter().map(|(key, _)| key);
        let of_manifests = |key: &Key| String::from_utf8_lossy(key).contains("manifest-");
        let delete = keys.filter(of_manifests).collect::<Vec<_>>();
        assert!(!delete.is_empty());
        self.inner
            .commit(Commit {
                delete,
                ..Commit::default()
            })
            .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_is_removed_while_it_is_read_shows_no_secret() {
    let (mut whole, mut gone) = (0, 0);
    for part in ["", "/layout", "/diff?from="] {
        for reads in 0.. {
            let kv = Arc::new(RemovingKv {
                inner: Arc::new(MemoryKv::default()),
                left: AtomicUsize::new(usize::MAX),
            });
            let served = Served::on(TestBed::on(kv.clone())).await;
            let request = creation("web", secretive("hunter2!"));
            let created = send(&served, Method::POST, "/deployments", &[], json!(request)).await;
            assert!(created.status().is_success());
            let (web, first) = (web(), PageQuery::default());
            let manifests = served.client.manifests(&web, &first).await.unwrap();
            let name = &manifests.items[0].name;
            let from = part.strip_prefix("/diff").map(|_| name.to_string());
            let path = format!(
                "/deployments/web/manifests/{name}{part}{}",
                from.unwrap_or_default()
            );
            kv.left.store(reads, Ordering::SeqCst);
            let answer = send(&served, Method::GET, &path, &[], json!({})).await;
            let was_removed = kv.left.load(Ordering::SeqCst) > usize::MAX / 2;
            let status = answer.status();
            let text = answer.text().await.unwrap();
            for secret in ["hunter2", "t0ken"] {
                assert!(
                    !text.contains(secret),
                    "removed before read {reads}: {text}"
                );
            }
            match status.is_success() {
                true => whole += 1,
                false => gone += 1,
            }
            if !was_removed {
                break;
            }
        }
    }
    assert!(whole >= 3 && gone >= 3, "{whole} whole, {gone} gone");
}
