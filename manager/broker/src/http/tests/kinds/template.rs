//! A Template as a service: what its objects expose are the credentials.

use super::*;

const TEMPLATE: &str = r#"
apiVersion: template.openshift.io/v1
kind: Template
metadata: {name: redis, uid: s}
objects: []
parameters: [{name: user}, {name: hidden}]
"#;

fn platform() -> Platform {
    Platform::with(TEMPLATE, &BrokerOptions::default())
}

fn with_parameters(parameters: Value) -> Value {
    with(provision("s-default"), "parameters", parameters)
}

#[actix_web::test]
async fn a_binding_has_what_the_instance_exposes_and_deploys_nothing() {
    let platform = platform();
    let body = with_parameters(json!({"user": "app"}));
    let reply = platform.put(&incomplete(I), body).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    platform.ended(&format!("{I}/last_operation")).await;
    let reply = platform.bound(B, "s-default").await;
    assert_eq!(reply.body, json!({"credentials": {"user": "app"}}));
    assert_eq!(platform.backend.deployments().len(), 1);
    let again = platform.put(B, bind("s-default")).await;
    assert_eq!((again.status, &again.body), (200, &reply.body));
    assert_eq!(
        platform.get(B).await.body["credentials"],
        reply.body["credentials"]
    );
    let refused = platform
        .put(
            &format!("{B}2"),
            with(bind("s-default"), "parameters", json!({"a": 1})),
        )
        .await;
    assert_eq!(
        refused.status, 400,
        "a bind takes no parameters: {refused:?}"
    );
    let unbound = platform.delete(&with_ids(B, "s-default")).await;
    assert_eq!(unbound.status, 200, "{unbound:?}");
    assert_eq!(platform.delete(&with_ids(B, "s-default")).await.status, 410);
    let path = incomplete(I);
    let deleted = platform
        .delete(&format!("{path}&service_id=s&plan_id=s-default"))
        .await;
    assert_eq!(deleted.status, 202, "{deleted:?}");
    assert_eq!(
        platform.ended(&format!("{I}/last_operation")).await.status,
        410
    );
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn an_annotation_that_exposes_nothing_leaves_no_binding() {
    let platform = platform();
    let body = with_parameters(json!({"hidden": "yes"}));
    platform.put(&incomplete(I), body).await;
    platform.ended(&format!("{I}/last_operation")).await;
    let refused = platform.put(B, bind("s-default")).await;
    assert_eq!(refused.status, 500, "{refused:?}");
    assert_eq!(refused.body["description"], "it is hidden");
    assert_eq!(platform.get(B).await.status, 404);
}
