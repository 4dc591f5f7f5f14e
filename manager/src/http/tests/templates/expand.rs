//! Expanding without storing.

use crate::http::tests::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_expansion_alone_stores_nothing() {
    let served = Served::new().await;
    let before = served.bed.keys().await;
    let body =
        json!({"name": "web", "content": content(json!([{"name": "two", "type": "pair:v1"}]))});
    let expansion = served
        .client
        .expand(&serde_json::from_value(body).unwrap())
        .await
        .unwrap();
    assert_eq!(expansion.expanded_config.resources.len(), 2);
    assert_eq!(expansion.resolved_types.len(), 1);
    assert_eq!(served.bed.keys().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn references_that_lead_on_and_on_are_given_up() {
    let served = Served::new().await;
    for level in 0..40 {
        let further = json!([{"name": "on", "type": format!("level{}:v1", level + 1)}]);
        let template = content(further);
        served.bed.add_template(&format!("level{level}"), &template);
    }
    let request =
        json!({"name": "web", "content": content(json!([{"name": "on", "type": "level0:v1"}]))});
    let request = serde_json::from_value(request).unwrap();
    let error = answered(served.client.expand(&request).await);
    assert_eq!(error.code, ErrorCode::TooDeep);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_refers_to_too_many_templates_is_refused() {
    let served = Served::new().await;
    let resource = |number: usize| {
        let name = format!("t{number}");
        served.bed.add_template(&name, &content(json!([])));
        json!({"name": name, "type": format!("{name}:v1")})
    };
    let resources: Vec<_> = (0..=200).map(resource).collect();
    let request = json!({"name": "web", "content": content(Value::Array(resources))});
    let request = serde_json::from_value(request).unwrap();
    let error = answered(served.client.expand(&request).await);
    assert_eq!(error.code, ErrorCode::InvalidConfiguration);
    assert!(error.message.contains("more than 200"), "{}", error.message);
}
