use super::*;

#[actix_web::test]
async fn t130_t131_t136_an_unbound_binding_leaves_nothing_and_is_gone() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.bound(B, "sync").await;
    let reply = platform.delete(&with_ids(B, "sync")).await;
    assert_eq!((reply.status, reply.body), (200, json!({})));
    assert_eq!(platform.backend.deployments().len(), 1);
    assert_eq!(platform.get(B).await.status, 404);
    for path in [with_ids(B, "sync"), B.to_owned(), format!("{B}9")] {
        let reply = platform.delete(&path).await;
        assert_eq!((reply.status, reply.body), (410, json!({})), "{path}");
    }
}

#[actix_web::test]
async fn t132_the_ids_of_an_existing_binding_are_needed() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.bound(B, "sync").await;
    for query in ["", "?service_id=s", "?service_id=s&plan_id=fixed"] {
        let reply = platform.delete(&format!("{B}{query}")).await;
        assert_eq!(reply.status, 400, "{query}");
    }
    assert_eq!(platform.get(B).await.status, 200);
}

#[actix_web::test]
async fn t133_t137_t140_an_asynchronous_unbind_is_one_operation_and_ends_gone() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    let poll = format!("{B}/last_operation");
    assert_eq!(platform.get(&poll).await.status, 404);
    platform
        .put(&incomplete(B), bind("async"))
        .await
        .operation();
    platform.ended(&poll).await;
    for query in ["operation=other", "service_id=other", "plan_id=other"] {
        let reply = platform.get(&format!("{poll}?{query}")).await;
        assert_eq!(reply.status, 400, "{query}");
    }
    let path = with_ids(B, "async");
    let reply = platform.delete(&path).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    platform.backend.hold();
    let first = platform.delete(&incomplete(&path)).await.operation();
    let again = platform.delete(&incomplete(&path)).await.operation();
    assert_eq!(first, again);
    let running = platform.get(&poll).await;
    assert_eq!(running.body, json!({"state": "in progress"}));
    assert!(running.header("retry-after").is_some());
    platform.backend.release();
    let ended = platform.ended(&poll).await;
    assert_eq!((ended.status, ended.body), (410, json!({})));
}

#[actix_web::test]
async fn t134_the_instance_is_not_deleted_twice_through_its_bindings() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform
        .put(&incomplete(B), bind("async"))
        .await
        .operation();
    platform.ended(&format!("{B}/last_operation")).await;
    platform.backend.hold();
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    let reply = platform.delete(&incomplete(&with_ids(B, "async"))).await;
    assert_eq!(reply.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn t135_an_unbind_during_the_bind_stops_it() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform.backend.hold();
    platform
        .put(&incomplete(B), bind("async"))
        .await
        .operation();
    platform
        .delete(&incomplete(&with_ids(B, "async")))
        .await
        .operation();
    platform.backend.release();
    assert_eq!(
        platform.ended(&format!("{B}/last_operation")).await.status,
        410
    );
    assert_eq!(platform.backend.deployments().len(), 1);
}
