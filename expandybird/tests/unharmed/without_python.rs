//! A server whose worker cannot be: Python templates have nobody to run them.

use common::api::error::ErrorCode;

use crate::requests::{HARMLESS, request};
use crate::server::{PATIENCE, Server};

#[tokio::test]
async fn without_python_jinja_is_expanded_and_python_says_what_is_missing() {
    let server = Server::start(&["--worker=/nowhere/worker"]);
    let answer = server
        .expanded("Jinja", &request("t.jinja", HARMLESS))
        .await;
    assert_eq!(answer.config.resources[0].name.as_str(), "a-b");

    let instances = server.client.readiness(PATIENCE).await;
    let [(_, readiness)] = instances.as_slice() else {
        panic!("{instances:?}");
    };
    let ready: Vec<_> = readiness
        .as_ref()
        .unwrap()
        .checks
        .iter()
        .map(|check| (check.name.as_str(), check.ready))
        .collect();
    assert_eq!(ready, [("jinja", true), ("python", false)]);

    let python = request(
        "t.py",
        "def GenerateConfig(context): return {'resources': []}",
    );
    let error = server.refusal("Python", &python).await;
    assert_eq!(error.code, ErrorCode::ExpanderUnavailable);
    assert!(error.message.contains("/nowhere/worker"), "{error}");
    let resource = error.location.and_then(|location| location.resource);
    assert_eq!(resource.as_deref(), Some("a"));
}
