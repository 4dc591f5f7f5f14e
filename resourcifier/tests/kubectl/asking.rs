//! What the cluster is, and who others are.

use super::*;

pub async fn a_token_that_is_not_known_is_a_verdict(world: &World) {
    let review = TokenReview {
        token: Secret::new("nobodys"),
        audiences: Vec::new(),
    };
    let verdict = world.cluster.review_token(&review, LONG).await.unwrap();
    assert!(!verdict.authenticated && verdict.identity.is_none());
    let error = verdict.error.unwrap();
    assert!(!error.contains("nobodys"), "{error}");
}

pub async fn a_caller_is_remembered_and_asked_about(world: &World) {
    assert_eq!(world.kubectl.caller(), None);
    let jane = identity("jane", &["dev"]);
    let hers = world.acting_for(&jane);
    assert_eq!(hers.caller(), Some(&jane));
    let access = ResourceAttributes {
        verb: "patch".to_owned(),
        group: String::new(),
        resource: "secrets".to_owned(),
        subresource: None,
        namespace: Some(world.namespace.clone()),
        name: None,
    };
    assert!(!hers.may(&access, LONG).await.unwrap().allowed);
    let reviewed = world.cluster.review_access(&jane, &access, LONG).await;
    assert!(!reviewed.unwrap().allowed);
}

pub async fn it_serves_kinds(world: &World) {
    let kinds = world.cluster.kinds().await.unwrap();
    let map = kinds.iter().find(|kind| kind.kind == "ConfigMap").unwrap();
    assert_eq!(
        (
            map.api_version.as_str(),
            map.resource.as_str(),
            map.namespaced,
            map.applicable
        ),
        ("v1", "configmaps", true, true)
    );
    let batch = world.cluster.kinds_of("batch/v1").await.unwrap();
    assert!(batch.iter().any(|kind| kind.kind == "Job"));
    assert_eq!(world.cluster.kinds_of("no.such/v1").await.unwrap(), []);
    let versions = world.cluster.versions(LONG).await.unwrap();
    assert!(versions.client.starts_with("v1.") && versions.server.unwrap().starts_with("v1."));
}
