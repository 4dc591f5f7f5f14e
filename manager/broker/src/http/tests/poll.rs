use super::*;

fn poll() -> String {
    format!("{I}/last_operation")
}

#[actix_web::test]
async fn t050_t055_a_running_operation_says_when_to_ask_again() {
    let platform = Platform::new();
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    let reply = platform.get(&poll()).await;
    assert_eq!(
        (reply.status, &reply.body),
        (200, &json!({"state": "in progress"}))
    );
    assert!(reply.header("retry-after").is_some());
    platform.backend.release();
    let reply = platform.ended(&poll()).await;
    assert_eq!(reply.body, json!({"state": "succeeded"}));
    assert_eq!(reply.header("retry-after"), None);
}

#[actix_web::test]
async fn t051_t052_unknown_instances_are_not_found_and_deleted_ones_are_gone() {
    let platform = Platform::new();
    assert_eq!(platform.get(&poll()).await.status, 404);
    platform.provisioned("i", "async").await;
    platform
        .delete(&incomplete(&with_ids(I, "async")))
        .await
        .operation();
    let reply = platform.ended(&poll()).await;
    assert_eq!((reply.status, reply.body), (410, json!({})));
}

#[actix_web::test]
async fn t053_t057_the_final_state_is_answered_again_with_or_without_the_operation() {
    let platform = Platform::new();
    let operation = platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    platform.ended(&poll()).await;
    for query in [
        String::new(),
        format!("?operation={operation}&service_id=s&plan_id=async"),
    ] {
        let reply = platform.get(&format!("{}{query}", poll())).await;
        assert_eq!(reply.body["state"], "succeeded", "{query}");
    }
}

#[actix_web::test]
async fn t054_a_poll_names_the_latest_operation_and_the_plan_before_a_change() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    for query in ["operation=other", "service_id=other", "plan_id=other"] {
        let reply = platform.get(&format!("{}?{query}", poll())).await;
        assert_eq!(reply.status, 400, "{query}");
    }
    platform.backend.hold();
    let body = json!({"service_id": "s", "plan_id": "async"});
    platform.patch(&incomplete(I), body).await.operation();
    let old = format!("{}?plan_id=sync", poll());
    assert_eq!(platform.get(&old).await.body["state"], "in progress");
    platform.backend.release();
    assert_eq!(platform.ended(&old).await.body["state"], "succeeded");
}

#[actix_web::test]
async fn t056_only_a_failed_update_or_delete_says_whether_the_instance_is_usable() {
    let platform = Platform::new();
    platform.provisioned("i", "async").await;
    let update = json!({"service_id": "s", "parameters": {"fail": true}});
    platform.patch(&incomplete(I), update).await.operation();
    let reply = platform.ended(&poll()).await;
    let expected = json!({"state": "failed", "description": "web fails", "instance_usable": true, "update_repeatable": true});
    assert_eq!(reply.body, expected);

    let path = "/v2/service_instances/j";
    platform.provisioned("j", "sticky").await;
    let deleted = platform.delete(&with_ids(path, "sticky")).await;
    assert_eq!(deleted.status, 500);
    let reply = platform.get(&format!("{path}/last_operation")).await;
    let expected = json!({"state": "failed", "description": "sticky cannot be removed", "instance_usable": false});
    assert_eq!(reply.body, expected);
}

#[actix_web::test]
async fn t053_operations_that_ran_at_a_restart_are_followed_again() {
    let platform = Platform::new();
    platform.provisioned("j", "sync").await;
    platform.backend.hold();
    platform
        .put(&incomplete(I), provision("async"))
        .await
        .operation();
    // A second broker on the same records, as after a restart. The tasks of the first one find nothing left to do.
    assert_eq!(platform.broker.recover().await.unwrap(), 1);
    platform.backend.release();
    assert_eq!(platform.ended(&poll()).await.body["state"], "succeeded");
    assert_eq!(platform.broker.recover().await.unwrap(), 0);
}
