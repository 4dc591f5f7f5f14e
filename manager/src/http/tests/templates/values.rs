//! Values that templates make up are kept with the manifest: what the expander gets with each expansion.

use common::api::manager::RollbackDeployment;
use common::model::{Deployment, GeneratedValue, ManifestName};

use crate::http::tests::*;

/// The fake expander makes up a value for it.
fn generating() -> Value {
    json!([{"name": "db", "type": "pair:v1", "properties": {"generated": "PASS"}}])
}

fn query(query: Value) -> WriteQuery {
    serde_json::from_value(query).unwrap()
}

async fn deployed(served: &Served) -> Deployment {
    let request = creation("web", generating());
    let created = served.client.create(&request, &WriteQuery::default()).await;
    created.unwrap()
}

async fn updated(served: &Served, asked: Value) -> Deployment {
    let change = change(generating());
    let updated = served.client.update(&web(), &change, &query(asked)).await;
    updated.unwrap()
}

/// What the next expansion would use again.
async fn kept(served: &Served) -> Vec<GeneratedValue> {
    updated(served, json!({"preview": true})).await;
    last_given(served)
}

/// What the last expansion was given.
fn last_given(served: &Served) -> Vec<GeneratedValue> {
    let requests = served.bed.expander.requests();
    requests.last().unwrap().values.clone()
}

fn to(manifest: Option<ManifestName>) -> RollbackDeployment {
    RollbackDeployment {
        manifest: manifest.unwrap(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_made_once_and_made_again_only_on_request() {
    let served = Served::new().await;
    let first = deployed(&served).await;
    let made = kept(&served).await;
    assert_eq!(made.len(), 1);
    assert_eq!(
        (made[0].name.as_str(), made[0].path.to_string().as_str()),
        ("PASS", "$.resources[0]")
    );
    updated(&served, json!({})).await;
    assert_eq!(kept(&served).await, made);

    updated(&served, json!({"regenerate": "$.resources[0].PASS"})).await;
    assert_eq!(last_given(&served), []);
    let other = kept(&served).await;
    assert_ne!(other[0].value, made[0].value);

    let write = WriteQuery::default();
    let back = to(first.latest_manifest);
    served.client.rollback(&web(), &back, &write).await.unwrap();
    assert_eq!(kept(&served).await, made);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_that_is_committed_keeps_the_values_of_the_preview() {
    let served = Served::new().await;
    deployed(&served).await;
    let before = kept(&served).await;
    let previewed = updated(&served, json!({"preview": true, "regenerate": "$"})).await;
    let commit = UpdateDeployment {
        manifest: previewed.preview,
        ..UpdateDeployment::default()
    };
    let expansions = served.bed.expander.requests().len();
    let write = WriteQuery::default();
    served.client.update(&web(), &commit, &write).await.unwrap();
    assert_eq!(served.bed.expander.requests().len(), expansions);
    let seed = served.bed.expander.requests().last().unwrap().seed.clone();
    let after = kept(&served).await;
    assert_ne!(after, before);
    assert_eq!(after[0].value, json!(seed));
}

#[tokio::test(flavor = "multi_thread")]
async fn values_are_in_no_answer_and_the_diff_uses_them() {
    let served = Served::new().await;
    let first = deployed(&served).await;
    let value = kept(&served).await[0].value.as_str().unwrap().to_owned();
    let manifest = first.latest_manifest.unwrap();
    let path = format!("/deployments/web/manifests/{manifest}");
    for path in [
        path.as_str(),
        "/deployments/web",
        "/deployments/web/preview",
    ] {
        let answer = send(&served, Method::GET, path, &[], json!({})).await;
        assert!(!answer.text().await.unwrap().contains(&value), "{path}");
    }
    let body = json!({"content": content(generating())});
    let answer = send(&served, Method::POST, "/deployments/web/diff", &[], body).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(last_given(&served)[0].value, value);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_names_no_value_is_refused() {
    let served = Served::new().await;
    deployed(&served).await;
    let body = json!({"content": content(generating())});
    for (asked, status) in [
        ("regenerate=$.resources[1].PASS", StatusCode::BAD_REQUEST),
        ("regenerate=$.resources[0].OTHER", StatusCode::BAD_REQUEST),
        ("regenerate=PASS", StatusCode::BAD_REQUEST),
        (
            "regenerate=$.resources[0].PASS&regenerate=$",
            StatusCode::OK,
        ),
    ] {
        let path = format!("/deployments/web?{asked}");
        let answer = send(&served, Method::PUT, &path, &[], body.clone()).await;
        assert_eq!(answer.status(), status, "{asked}");
    }
}
