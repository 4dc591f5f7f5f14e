//! What answers say beforehand of the caller's permissions.

use crate::http::tests::access::Guarded;
use crate::http::tests::*;

async fn answered(guarded: &Guarded, caller: &str, path: &str) -> Value {
    let answer = guarded.ask(caller, Method::GET, path, Value::Null).await;
    answer.json().await.unwrap()
}

/// Whether it is permitted. A refusal has the reason that the write itself would give.
fn permitted(permission: &Value) -> bool {
    let allowed = permission["allowed"].as_bool().unwrap();
    let reason = permission["reason"].as_str().unwrap_or_default();
    assert_eq!(allowed, reason.is_empty(), "{permission}");
    assert!(
        allowed || reason.contains("it takes the role 'edit' in namespace 'shop'"),
        "{reason}"
    );
    allowed
}

#[tokio::test(flavor = "multi_thread")]
async fn whoami_says_whether_the_caller_may_create_in_a_namespace() {
    let guarded = Guarded::new().await;
    for (caller, expected) in [
        ("other", false),
        ("viewer", false),
        ("editor", true),
        ("admin", true),
    ] {
        let known = answered(&guarded, caller, "/whoami?namespace=shop").await;
        assert_eq!(known["user"], caller);
        assert_eq!(permitted(&known["may"]["create"]), expected, "{caller}");
        assert!(answered(&guarded, caller, "/whoami").await["may"].is_null());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_what_if_says_of_each_deployment_whether_the_caller_may_upgrade_it() {
    let guarded = Guarded::new().await;
    let pair = content(json!([{"name": "two", "type": "pair:v1"}]));
    let body = json!({"name": "pairs", "namespace": "shop", "content": pair});
    let made = guarded
        .ask("editor", Method::POST, "/deployments", body)
        .await;
    assert_eq!(made.status(), 201);
    for (caller, expected) in [("viewer", false), ("editor", true), ("admin", true)] {
        let template = json!({"template": "pair:v1"});
        let answer = guarded
            .ask(caller, Method::POST, "/templates/whatif", template)
            .await;
        let page: Value = answer.json().await.unwrap();
        let item = &page["items"][0];
        assert_eq!(item["deployment"], "pairs");
        assert_eq!(permitted(&item["may"]["upgrade"]), expected, "{caller}");
    }
}
