use super::*;

#[actix_web::test]
async fn t090_t093_t099_a_deleted_instance_leaves_nothing_and_is_gone() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    let reply = platform.delete(&with_ids(I, "sync")).await;
    assert_eq!((reply.status, reply.body), (200, json!({})));
    assert!(platform.backend.deployments().is_empty());
    for id in ["i", "unknown"] {
        let path = with_ids(&format!("/v2/service_instances/{id}"), "sync");
        let reply = platform.delete(&path).await;
        assert_eq!((reply.status, reply.body), (410, json!({})), "{id}");
    }
    assert_eq!(platform.put(I, provision("sync")).await.status, 201);
}

#[actix_web::test]
async fn t091_t093_an_asynchronous_plan_needs_accepts_incomplete_even_if_nothing_exists() {
    let platform = Platform::new();
    let reply = platform.delete(&with_ids(I, "async")).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    let reply = platform.delete(&incomplete(&with_ids(I, "async"))).await;
    assert_eq!(reply.status, 410);
}

#[actix_web::test]
async fn t092_t097_the_ids_are_needed_and_must_be_those_of_the_instance() {
    let platform = Platform::new();
    for query in [
        "",
        "?service_id=s",
        "?plan_id=sync",
        "?service_id=&plan_id=sync",
    ] {
        let reply = platform.delete(&format!("{I}{query}")).await;
        assert_eq!(reply.status, 400, "unknown{query}");
    }
    platform.provisioned("i", "sync").await;
    for query in [
        "service_id=s&plan_id=fixed",
        "service_id=closed&plan_id=sync",
    ] {
        let reply = platform.delete(&format!("{I}?{query}")).await;
        assert_eq!(reply.status, 400, "{query}");
    }
    assert_eq!(platform.backend.deployments().len(), 1);
}

#[actix_web::test]
async fn t094_the_same_delete_is_repeated_while_it_runs() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform.backend.hold();
    let path = incomplete(&with_ids(I, "async"));
    let first = platform.delete(&path).await.operation();
    assert_eq!(platform.delete(&path).await.operation(), first);
    platform.backend.release();
    assert_eq!(
        platform.ended(&format!("{I}/last_operation")).await.status,
        410
    );
}

#[actix_web::test]
async fn t095_a_delete_during_the_provision_stops_it() {
    let platform = Platform::new();
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    platform.backend.release();
    assert_eq!(
        platform.ended(&format!("{I}/last_operation")).await.status,
        410
    );
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn t096_a_delete_during_an_update_is_refused() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform.backend.hold();
    let update = json!({"service_id": "s", "parameters": {"size": 5}});
    platform.patch(&incomplete(I), update).await.operation();
    let reply = platform.delete(&incomplete(&with_ids(I, "async"))).await;
    assert_eq!(reply.code(), (422, "ConcurrencyError"));
    platform.backend.release();
}

#[actix_web::test]
async fn t098_the_bindings_of_a_deleted_instance_are_deleted_with_it() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.bound(B, "sync").await;
    platform.bound(&format!("{B}2"), "sync").await;
    assert_eq!(platform.delete(&with_ids(I, "sync")).await.status, 200);
    assert!(platform.backend.deployments().is_empty());
    assert_eq!(
        platform.get(&format!("{B}/last_operation")).await.status,
        410
    );
    assert_eq!(platform.delete(&with_ids(B, "sync")).await.status, 410);
}

#[actix_web::test]
async fn an_instance_whose_plan_left_the_catalog_can_be_deleted() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.offer("services: []");
    assert_eq!(platform.delete(&with_ids(I, "sync")).await.status, 200);
}
