use super::*;

#[actix_web::test]
async fn t100_t104_t120_a_binding_has_credentials_that_stay_the_same() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    let first = platform.bound(B, "sync").await;
    assert!(
        first.body["credentials"]["password"].is_string(),
        "{first:?}"
    );
    let again = platform.put(B, bind("sync")).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    let fetched = platform.get(B).await;
    assert_eq!(fetched.status, 200);
    assert_eq!(fetched.body["credentials"], first.body["credentials"]);
    assert_eq!(fetched.body["parameters"], json!({}));
    let other = platform.bound(&format!("{B}2"), "sync").await;
    assert_ne!(other.body, first.body);
}

#[actix_web::test]
async fn t101_t102_t104_t121_an_asynchronous_bind_gives_its_credentials_when_fetched() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    let reply = platform.put(B, bind("async")).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    platform.backend.hold();
    let first = platform.put(&incomplete(B), bind("async")).await;
    assert_eq!(first.body.as_object().unwrap().len(), 1, "{first:?}");
    let again = platform.put(&incomplete(B), bind("async")).await;
    assert_eq!(first.operation(), again.operation());
    assert_eq!(platform.get(B).await.status, 404, "in progress");
    platform.backend.release();
    let ended = platform.ended(&format!("{B}/last_operation")).await;
    assert_eq!(ended.body, json!({"state": "succeeded"}));
    assert!(platform.get(B).await.body["credentials"]["password"].is_string());
}

#[actix_web::test]
async fn t103_t107_t108_t110_a_bind_that_is_not_possible_is_refused() {
    let platform = Platform::new();
    assert_eq!(platform.put(B, bind("sync")).await.status, 404);
    platform.provisioned("i", "sync").await;
    let cases = [
        without(bind("sync"), "service_id"),
        without(bind("sync"), "plan_id"),
        with(bind("sync"), "plan_id", json!("")),
        bind("other"),
        bind("async"),
        with(bind("sync"), "parameters", json!({"role": "owner"})),
    ];
    for body in cases {
        let reply = platform.put(&incomplete(B), body.clone()).await;
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
    }
    platform.provisioned("j", "fixed").await;
    let path = "/v2/service_instances/j/service_bindings/b";
    assert_eq!(platform.put(path, bind("fixed")).await.status, 400);
    assert_eq!(platform.backend.deployments().len(), 2);
}

#[actix_web::test]
async fn t105_another_bind_of_the_same_id_is_a_conflict() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.bound(B, "sync").await;
    for body in [
        bind("app"),
        with(bind("sync"), "parameters", json!({"role": "reader"})),
        with(bind("closed-plan"), "service_id", json!("closed")),
    ] {
        let reply = platform.put(B, body.clone()).await;
        assert_eq!(reply.status, 409, "{body}: {reply:?}");
    }
}

#[actix_web::test]
async fn t106_a_plan_for_applications_needs_one() {
    let platform = Platform::new();
    platform.provisioned("i", "app").await;
    let reply = platform.put(B, bind("app")).await;
    assert_eq!(reply.code(), (422, "RequiresApp"));
    let bodies = [
        with(bind("app"), "app_guid", json!("a")),
        with(bind("app"), "bind_resource", json!({"app_guid": "a"})),
    ];
    for (number, body) in bodies.into_iter().enumerate() {
        let reply = platform.put(&format!("{B}{number}"), body).await;
        assert_eq!(reply.status, 201, "{reply:?}");
    }
}

#[actix_web::test]
async fn t108_a_bind_during_another_operation_of_the_instance_is_refused() {
    let platform = Platform::new();
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    let busy = |reply: Reply| assert_eq!(reply.code(), (422, "ConcurrencyError"));
    busy(platform.put(&incomplete(B), bind("async")).await);
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    platform.backend.hold();
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    busy(platform.put(&incomplete(B), bind("async")).await);
    platform.backend.release();
}

#[actix_web::test]
async fn t109_parts_of_the_answer_need_the_permission_of_the_service() {
    let platform = Platform::new();
    platform.provisioned("i", "syslog").await;
    let reply = platform.put(B, bind("syslog")).await;
    assert_eq!(reply.status, 500);
    let description = reply.body["description"].as_str().unwrap();
    assert!(
        description.contains("requires: [syslog_drain]"),
        "{description}"
    );
    assert_eq!(platform.backend.deployments().len(), 1);

    let body = with(provision("closed-plan"), "service_id", json!("closed"));
    platform.put("/v2/service_instances/j", body).await;
    let body = with(bind("closed-plan"), "service_id", json!("closed"));
    let reply = platform
        .put("/v2/service_instances/j/service_bindings/b", body)
        .await;
    assert_eq!(reply.body["syslog_drain_url"], "syslog://a", "{reply:?}");
}

#[actix_web::test]
async fn t111_a_rotated_binding_inherits_and_leaves_the_old_one_valid() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    let body = with(bind("sync"), "parameters", json!({"role": "reader"}));
    let old = platform.put(B, body).await;
    let next = format!("{B}2");
    let rotate = json!({"predecessor_binding_id": "b"});
    let new = platform.put(&next, rotate.clone()).await;
    assert_eq!(new.status, 201, "{new:?}");
    assert_ne!(new.body, old.body);
    assert_eq!(platform.put(&next, rotate).await.status, 200);
    let fetched = platform.get(&next).await.body;
    assert_eq!(fetched["parameters"], json!({"role": "reader"}));
    assert_eq!(platform.get(B).await.status, 200);
    let unknown = json!({"predecessor_binding_id": "none"});
    assert_eq!(platform.put(&format!("{B}3"), unknown).await.status, 400);
}

#[actix_web::test]
async fn t111_a_binding_that_has_expired_or_cannot_be_rotated_has_no_successor() {
    let platform = Platform::new();
    for plan in ["old", "app"] {
        let path = format!("/v2/service_instances/{plan}/service_bindings/b");
        platform.provisioned(plan, plan).await;
        let body = with(bind(plan), "app_guid", json!("a"));
        assert_eq!(platform.put(&path, body).await.status, 201);
        let rotate = json!({"predecessor_binding_id": "b"});
        assert_eq!(
            platform.put(&format!("{path}2"), rotate).await.status,
            400,
            "{plan}"
        );
    }
}

#[actix_web::test]
async fn a_bind_that_fails_leaves_no_half_binding() {
    let platform = Platform::new();
    for plan in ["text", "unbound"] {
        let path = format!("/v2/service_instances/{plan}/service_bindings/b");
        platform.provisioned(plan, plan).await;
        let before = platform.backend.deployments();
        let reply = platform.put(&path, bind(plan)).await;
        assert_eq!(reply.status, 500, "{plan}: {reply:?}");
        assert_eq!(platform.backend.deployments(), before, "{plan}");
        assert_eq!(
            platform.delete(&with_ids(&path, plan)).await.status,
            410,
            "{plan}"
        );
    }
}

#[actix_web::test]
async fn t122_bindings_are_shown_if_the_service_says_so() {
    let platform = Platform::new();
    let body = with(provision("closed-plan"), "service_id", json!("closed"));
    platform.put(I, body).await;
    let body = with(bind("closed-plan"), "service_id", json!("closed"));
    assert_eq!(platform.put(B, body).await.status, 201);
    assert_eq!(platform.get(B).await.status, 404);
}
