use super::*;

#[actix_web::test]
async fn t030_an_instance_is_a_deployment_with_the_parameters_over_the_plans_properties() {
    let platform = Platform::new();
    let body = with(
        provision("sync"),
        "parameters",
        json!({"size": 3, "depth": 7, "nested": {"more": 1}}),
    );
    let reply = platform.put(I, body).await;
    assert_eq!((reply.status, &reply.body), (201, &json!({})));
    let expected = json!({"resources": [{
        "name": "instance", "type": "web",
        "properties": {"tier": "small", "nested": {"kept": true, "size": 7, "more": 1}, "size": 3},
    }]});
    assert_eq!(platform.backend.deployments()["osb-i"], expected);
    let stored = platform.backend.stored_instance("i").unwrap();
    assert_eq!(stored.namespace.as_str(), "shop");
    assert_eq!(stored.operation.caller.user, "shop");
}

#[actix_web::test]
async fn a_plans_own_namespace_wins_and_a_bad_one_of_the_context_is_refused() {
    let platform = Platform::new();
    platform.provisioned("i", "own").await;
    let stored = platform.backend.stored_instance("i").unwrap();
    assert_eq!(stored.namespace.as_str(), "databases");
    let body = with(
        provision("sync"),
        "context",
        json!({"namespace": "Not/One"}),
    );
    let reply = platform.put("/v2/service_instances/j", body).await;
    assert_eq!(reply.status, 400, "{reply:?}");
}

#[actix_web::test]
async fn t031_t038_an_asynchronous_provision_is_the_same_operation_until_its_end() {
    let platform = Platform::new();
    platform.backend.hold();
    let first = platform.put(&incomplete(I), provision("async")).await;
    let again = platform.put(&incomplete(I), provision("async")).await;
    assert_eq!(first.operation(), again.operation());
    platform.backend.release();
    let ended = platform.ended(&format!("{I}/last_operation")).await;
    assert_eq!(ended.body["state"], "succeeded");
    assert_eq!(platform.backend.started(), 1);
}

#[actix_web::test]
async fn t032_an_asynchronous_plan_needs_accepts_incomplete() {
    let platform = Platform::new();
    for path in [I.to_owned(), format!("{I}?accepts_incomplete=false")] {
        let reply = platform.put(&path, provision("async")).await;
        assert_eq!(reply.code(), (422, "AsyncRequired"), "{path}");
    }
    let reply = platform
        .put(&format!("{I}?accepts_incomplete=1"), provision("async"))
        .await;
    assert_eq!(reply.status, 400);
    assert_eq!(platform.backend.started(), 0);
}

#[actix_web::test]
async fn t032_a_broker_with_asynchronous_plans_only_says_so_before_it_reads_the_body() {
    let catalog = "services: [{id: s, name: s, description: d, bindable: false, plans: [{id: p, name: p, description: d, type: web, async: true}]}]";
    let platform = Platform::with(catalog, &BrokerOptions::default());
    let reply = platform.put(I, json!({})).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    assert_eq!(platform.put(&incomplete(I), json!({})).await.status, 400);
}

#[actix_web::test]
async fn t033_to_t036_a_request_that_is_not_complete_is_refused() {
    let platform = Platform::new();
    let body = || provision("sync");
    let cases = [
        (without(body(), "service_id"), "service_id"),
        (with(body(), "service_id", json!("")), "service_id"),
        (without(body(), "plan_id"), "plan_id"),
        (with(body(), "plan_id", json!(1)), "plan_id"),
        (without(body(), "organization_guid"), "organization_guid"),
        (with(body(), "space_guid", json!("")), "space_guid"),
        (with(body(), "service_id", json!("other")), "catalog"),
        (with(body(), "plan_id", json!("other")), "catalog"),
        (with(body(), "plan_id", json!("closed-plan")), "catalog"),
        (with(body(), "parameters", json!([])), "parameters"),
        (with(body(), "parameters", json!({"size": 10})), "/size"),
        (with(body(), "context", json!("a")), "context"),
    ];
    for (body, word) in cases {
        let reply = platform.put(I, body.clone()).await;
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
        let description = reply.body["description"].as_str().unwrap();
        assert!(description.contains(word), "{body}: {description}");
    }
    assert_eq!(platform.backend.started(), 0);
}

#[actix_web::test]
async fn t034_a_lenient_broker_needs_no_organization() {
    let options = BrokerOptions {
        broker_lenient: true,
        ..BrokerOptions::default()
    };
    let catalog = "services: [{id: s, name: s, description: d, bindable: false, plans: [{id: p, name: p, description: d, type: web}]}]";
    let platform = Platform::with(catalog, &options);
    let reply = platform
        .put(I, json!({"service_id": "s", "plan_id": "p"}))
        .await;
    assert_eq!(reply.status, 201, "{reply:?}");
}

#[actix_web::test]
async fn t037_t039_the_same_request_is_repeated_and_any_other_is_a_conflict() {
    let platform = Platform::new();
    let body = || without(provision("sync"), "parameters");
    assert_eq!(platform.put(I, body()).await.status, 201);
    let same = with(body(), "parameters", json!({}));
    for body in [body(), same] {
        let reply = platform.put(I, body).await;
        assert_eq!((reply.status, reply.body), (200, json!({})));
    }
    let others = [
        ("plan_id", json!("async")),
        ("parameters", json!({"size": 1})),
        ("organization_guid", json!("other")),
        ("space_guid", json!("other")),
        (
            "context",
            json!({"platform": "kubernetes", "namespace": "other"}),
        ),
    ];
    for (key, value) in others {
        let reply = platform.put(&incomplete(I), with(body(), key, value)).await;
        assert_eq!(reply.status, 409, "{key}");
    }
    assert_eq!(platform.backend.started(), 1);
}

#[actix_web::test]
async fn t039_another_request_is_a_conflict_also_while_the_first_runs() {
    let platform = Platform::new();
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    let other = with(provision("async"), "space_guid", json!("other"));
    assert_eq!(platform.put(&incomplete(I), other).await.status, 409);
    platform.backend.release();
}

#[actix_web::test]
async fn t040_the_maintenance_version_is_that_of_the_catalog() {
    let platform = Platform::new();
    let info = |version: &str| json!({"version": version});
    for (plan, version) in [("sync", "1.2.4"), ("fixed", "1.2.3")] {
        let body = with(provision(plan), "maintenance_info", info(version));
        let reply = platform.put(I, body).await;
        assert_eq!(reply.code(), (422, "MaintenanceInfoConflict"), "{plan}");
    }
    assert_eq!(platform.backend.started(), 0);
    let body = with(provision("sync"), "maintenance_info", info("1.2.3"));
    assert_eq!(platform.put(I, body).await.status, 201);
}

#[actix_web::test]
async fn t041_t042_a_provision_during_another_operation_is_refused_and_changes_nothing() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform.backend.hold();
    let update = json!({"service_id": "s", "parameters": {"size": 5}});
    platform.patch(&incomplete(I), update).await.operation();
    let reply = platform.put(&incomplete(I), provision("async")).await;
    assert_eq!(reply.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    platform.backend.hold();
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    let reply = platform.put(&incomplete(I), provision("async")).await;
    assert_eq!(reply.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn t043_a_failed_asynchronous_provision_can_be_deleted_and_not_repeated() {
    let platform = Platform::new();
    platform
        .put(&incomplete(I), provision("broken-async"))
        .await
        .operation();
    let poll = format!("{I}/last_operation");
    let ended = platform.ended(&poll).await;
    assert_eq!(
        ended.body,
        json!({"description": "broken fails", "state": "failed"})
    );
    let again = platform
        .put(&incomplete(I), provision("broken-async"))
        .await;
    assert_eq!(again.status, 409);
    let path = incomplete(&with_ids(I, "broken-async"));
    platform.delete(&path).await.operation();
    assert_eq!(platform.ended(&poll).await.status, 410);
    let anew = platform
        .put(&incomplete(I), provision("broken-async"))
        .await;
    assert_eq!(anew.status, 202);
}

#[actix_web::test]
async fn a_provision_that_fails_within_its_request_leaves_nothing_if_it_can() {
    let platform = Platform::new();
    for (plan, status) in [("refused", 400), ("broken", 500), ("forbidden", 403)] {
        let reply = platform.put(I, provision(plan)).await;
        assert_eq!(reply.status, status, "{plan}");
        let poll = platform.get(&format!("{I}/last_operation")).await;
        assert_eq!(poll.status, 404, "{plan}");
    }
    assert!(platform.backend.deployments().is_empty());
    let reply = platform.put(I, provision("dirty")).await;
    assert_eq!(reply.status, 500);
    assert_eq!(platform.backend.deployments().len(), 1);
    let deleted = platform.delete(&with_ids(I, "dirty")).await;
    assert_eq!(deleted.status, 200);
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn t044_identical_requests_at_once_create_one_instance() {
    for (plan, statuses) in [("sync", [200, 201]), ("async", [200, 202])] {
        let platform = Platform::new();
        let path = incomplete(I);
        let puts = (0..8).map(|_| platform.put(&path, provision(plan)));
        let replies = futures_all(puts).await;
        let fits = |reply: &Reply| [statuses[0], statuses[1], 202].contains(&reply.status);
        assert!(replies.iter().all(fits), "{replies:?}");
        assert_eq!(platform.backend.started(), 1);
    }
}

/// Runs all at once.
async fn futures_all<F: Future<Output = Reply>>(all: impl Iterator<Item = F>) -> Vec<Reply> {
    let mut running: Vec<_> = all.map(|one| Some(Box::pin(one))).collect();
    let mut replies = Vec::new();
    std::future::poll_fn(|context| {
        for slot in &mut running {
            if let Some(one) = slot
                && let std::task::Poll::Ready(reply) = one.as_mut().poll(context)
            {
                replies.push(reply);
                *slot = None;
            }
        }
        match running.iter().all(Option::is_none) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    replies
}
