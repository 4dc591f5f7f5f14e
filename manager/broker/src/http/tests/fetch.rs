use super::*;

#[actix_web::test]
async fn t060_t064_an_instance_shows_its_present_plan_and_no_secret_parameters() {
    let platform = Platform::new();
    let parameters =
        json!({"size": 2, "token": "s3cret", "auth": {"password": "s3cret", "user": "u"}});
    let body = with(provision("sync"), "parameters", parameters);
    let body = with(body, "maintenance_info", json!({"version": "1.2.3"}));
    assert_eq!(platform.put(I, body).await.status, 201);
    let expected = json!({
        "service_id": "s", "plan_id": "sync", "maintenance_info": {"version": "1.2.3"},
        "parameters": {"size": 2, "auth": {"user": "u"}},
    });
    let reply = platform.get(I).await;
    assert_eq!((reply.status, reply.body), (200, expected));
    let update = json!({"service_id": "s", "plan_id": "fixed"});
    assert_eq!(platform.patch(I, update).await.status, 200);
    assert_eq!(platform.get(I).await.body["plan_id"], "fixed");
}

#[actix_web::test]
async fn t061_to_t063_an_instance_that_is_not_ready_is_not_shown() {
    let platform = Platform::new();
    assert_eq!(platform.get(I).await.status, 404);
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    assert_eq!(platform.get(I).await.status, 404, "provisioning");
    platform.backend.release();
    let poll = format!("{I}/last_operation");
    platform.ended(&poll).await;
    platform.backend.hold();
    let update = json!({"service_id": "s", "parameters": {"size": 5}});
    platform.patch(&incomplete(I), update).await.operation();
    assert_eq!(platform.get(I).await.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&poll).await;
    platform.backend.hold();
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    assert_eq!(platform.get(I).await.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&poll).await;
    assert_eq!(platform.get(I).await.status, 404, "deleted");
    platform
        .put(&incomplete(I), provision("broken-async"))
        .await
        .operation();
    platform.ended(&poll).await;
    assert_eq!(platform.get(I).await.status, 404, "failed");
}

#[actix_web::test]
async fn t065_t066_only_retrievable_services_are_shown_and_hints_are_ignored() {
    let platform = Platform::new();
    let body = with(provision("closed-plan"), "service_id", json!("closed"));
    assert_eq!(platform.put(I, body).await.status, 201);
    assert_eq!(platform.get(I).await.status, 404);
    platform.provisioned("j", "sync").await;
    let path = "/v2/service_instances/j?service_id=other&plan_id=other";
    assert_eq!(platform.get(path).await.status, 200);
}
