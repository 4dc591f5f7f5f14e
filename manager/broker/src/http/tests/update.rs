use super::*;

fn size(size: u8) -> Value {
    json!({"service_id": "s", "parameters": {"size": size}})
}

async fn parameters(platform: &Platform) -> Value {
    platform.get(I).await.body["parameters"].clone()
}

#[actix_web::test]
async fn t070_t074_an_update_changes_what_it_names_and_keeps_the_rest() {
    let platform = Platform::new();
    let body = with(
        provision("sync"),
        "parameters",
        json!({"size": 2, "color": "red"}),
    );
    platform.put(I, body).await;
    let reply = platform.patch(I, size(3)).await;
    assert_eq!((reply.status, reply.body), (200, json!({})));
    assert_eq!(
        parameters(&platform).await,
        json!({"size": 3, "color": "red"})
    );
    let plan = json!({"service_id": "s", "plan_id": "fixed"});
    assert_eq!(platform.patch(I, plan).await.status, 200);
    assert_eq!(
        parameters(&platform).await,
        json!({"size": 3, "color": "red"})
    );
    let deployed = &platform.backend.deployments()["osb-i"]["resources"][0];
    assert_eq!(deployed["properties"], json!({"size": 3, "color": "red"}));

    platform.provisioned("j", "async").await;
    let path = incomplete("/v2/service_instances/j");
    platform.patch(&path, size(4)).await.operation();
    let ended = platform
        .ended("/v2/service_instances/j/last_operation")
        .await;
    assert_eq!(ended.body["state"], "succeeded");
}

#[actix_web::test]
async fn t071_an_update_that_changes_nothing_starts_nothing() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    let same = json!({"service_id": "s", "plan_id": "sync", "parameters": {"size": 2}});
    for body in [same, json!({"service_id": "s"})] {
        assert_eq!(platform.patch(I, body).await.status, 200);
    }
    assert_eq!(platform.backend.started(), 1);
}

#[actix_web::test]
async fn t072_t073_t080_an_update_that_is_not_complete_is_refused() {
    let platform = Platform::new();
    assert_eq!(platform.patch(I, size(3)).await.status, 404);
    platform.provisioned("i", "async").await;
    let reply = platform.patch(I, size(3)).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    let change = json!({"service_id": "s", "plan_id": "async", "parameters": {"size": 3}});
    let reply = platform.patch(I, change).await;
    assert_eq!(reply.code(), (422, "AsyncRequired"));
    platform.provisioned("j", "sync").await;
    let path = "/v2/service_instances/j";
    for body in [
        json!({}),
        json!({"service_id": ""}),
        json!({"service_id": "other"}),
        json!({"service_id": "closed"}),
        json!({"service_id": "s", "plan_id": "other"}),
        json!({"service_id": "s", "parameters": []}),
        json!({"service_id": "s", "parameters": {"size": 10}}),
    ] {
        let reply = platform.patch(path, body.clone()).await;
        assert_eq!(reply.status, 400, "{body}: {reply:?}");
    }
    assert_eq!(platform.backend.started(), 2);
}

#[actix_web::test]
async fn t075_t076_t079_changes_that_the_plan_does_not_allow_are_refused() {
    let platform = Platform::new();
    platform.provisioned("i", "fixed").await;
    let body = json!({"service_id": "s", "plan_id": "sync"});
    assert_eq!(platform.patch(I, body).await.status, 422);
    let body = json!({"service_id": "s", "maintenance_info": {"version": "9.9.9"}});
    let reply = platform.patch(I, body).await;
    assert_eq!(reply.code(), (422, "MaintenanceInfoConflict"));
    let context = json!({"platform": "kubernetes", "namespace": "shop", "instance_name": "new"});
    let body = json!({"service_id": "s", "context": context});
    assert_eq!(platform.patch(I, body).await.status, 200);

    let closed = with(provision("closed-plan"), "service_id", json!("closed"));
    platform.put("/v2/service_instances/j", closed).await;
    let body = json!({"service_id": "closed", "context": context});
    let reply = platform.patch("/v2/service_instances/j", body).await;
    assert_eq!(reply.status, 422);
}

#[actix_web::test]
async fn t077_the_same_update_is_repeated_while_it_runs_and_another_is_refused() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    platform.backend.hold();
    let first = platform.patch(&incomplete(I), size(3)).await.operation();
    let again = platform.patch(&incomplete(I), size(3)).await.operation();
    assert_eq!(first, again);
    let other = platform.patch(&incomplete(I), size(4)).await;
    assert_eq!(other.code(), (422, "ConcurrencyError"));
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    assert_eq!(parameters(&platform).await, json!({"size": 3}));
}

#[actix_web::test]
async fn t078_t081_a_failed_update_leaves_the_old_plan_and_parameters() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    let body = json!({"service_id": "s", "plan_id": "fixed", "parameters": {"fail": true}});
    let reply = platform.patch(I, body).await;
    let expected =
        json!({"description": "web fails", "instance_usable": true, "update_repeatable": true});
    assert_eq!((reply.status, reply.body), (500, expected));
    let shown = platform.get(I).await.body;
    assert_eq!(
        (&shown["plan_id"], &shown["parameters"]),
        (&json!("sync"), &json!({"size": 2}))
    );
    assert_eq!(platform.patch(I, size(3)).await.status, 200);
}

#[actix_web::test]
async fn a_failed_instance_is_not_updated() {
    let platform = Platform::new();
    platform.put(I, provision("dirty")).await;
    assert_eq!(platform.patch(I, size(3)).await.status, 422);
}
