//! Plans of a ServiceBrokerConfig.

use super::*;

const CONFIG: &str = r#"
apiVersion: servicebroker.couchbase.com/v1alpha1
kind: ServiceBrokerConfig
spec:
  catalog:
    services:
    - id: s
      name: web
      description: d
      bindable: false
      plans: [{id: p, name: small, description: d}]
  templates: [{name: object, template: {kind: ConfigMap}}]
  bindings:
  - {name: b, service: web, plan: small, serviceInstance: {templates: [object]}}
"#;

fn platform() -> Platform {
    Platform::with(CONFIG, &BrokerOptions::default())
}

#[actix_web::test]
async fn t031_the_answer_to_a_create_has_the_dashboard_while_it_goes_on_and_afterwards() {
    let platform = platform();
    platform.backend.hold();
    let dashboard = "http://catalog.yaml#web/small";
    for _ in 0..2 {
        let reply = platform.put(&incomplete(I), provision("p")).await;
        assert_eq!(
            (reply.status, &reply.body["dashboard_url"]),
            (202, &json!(dashboard))
        );
    }
    platform.backend.release();
    platform.ended(&format!("{I}/last_operation")).await;
    let reply = platform.put(&incomplete(I), provision("p")).await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

#[actix_web::test]
async fn a_fault_of_an_attribute_is_a_fault_of_the_request_and_leaves_nothing() {
    let platform = platform();
    let faulty = with(provision("p"), "parameters", json!({"fault": true}));
    let reply = platform.put(&incomplete(I), faulty).await;
    assert_eq!(reply.status, 400, "{reply:?}");
    assert!(platform.backend.deployments().is_empty());
    let reply = platform.put(&incomplete(I), provision("p")).await;
    assert_eq!(reply.status, 202, "{reply:?}");
}

#[actix_web::test]
async fn the_parameters_of_an_update_take_the_place_of_all_earlier_ones() {
    let platform = platform();
    let body = with(
        provision("p"),
        "parameters",
        json!({"size": 3, "host": "a"}),
    );
    platform.put(&incomplete(I), body).await;
    platform.ended(&format!("{I}/last_operation")).await;
    let change = json!({"service_id": "s", "parameters": {"size": 4}});
    let reply = platform.patch(&incomplete(I), change).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    platform.ended(&format!("{I}/last_operation")).await;
    assert_eq!(platform.get(I).await.body["parameters"], json!({"size": 4}));
}
