//! Registries that are unreachable, or ask for a pause.

use common::api::error::ErrorCode;

use crate::conformance::{Loopback, Options, alone, registries, tree, type_name};

#[tokio::test]
async fn a_used_up_rate_limit_says_when_it_ends() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let error = registries
        .resolve(&type_name("github.com/owner/limited/a:v1"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable);
    assert!(error.to_string().contains("2030-01-01"), "{error}");
}

#[tokio::test]
async fn a_registry_that_is_down_is_unavailable_and_others_go_on() {
    let folder = tree();
    let options = Options {
        registry: Some(folder.path().to_str().unwrap().to_owned()),
        // Nothing listens on port 9: the connection is refused.
        github_api_url: "http://127.0.0.1:9".to_owned(),
        ..Options::default()
    };
    let registries = alone(&options).await.unwrap();
    let error = registries
        .resolve(&type_name("github.com/owner/repo/a:v1"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
    assert!(registries.resolve(&type_name("a:v1")).await.is_ok());
    let private = registries
        .resolve(&type_name("http://127.0.0.1:9/a.py"))
        .await
        .unwrap_err();
    assert!(
        private.to_string().contains("--allow-private-registries"),
        "{private}"
    );
    assert_eq!(private.code(), ErrorCode::InvalidConfiguration);
}

#[tokio::test]
async fn a_registry_that_goes_away_makes_the_manager_unready() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, remote] = registries(folder.path(), &server).await;
    assert!(registries.health().await.ready);
    folder.close().unwrap();
    let check = registries.health().await;
    assert!(!check.ready, "{check:?}");
    assert!(remote.health().await.ready, "what is remote is not asked");
}

#[tokio::test]
async fn those_who_come_together_share_one_try_and_who_comes_after_learns_its_end_at_once() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let url = type_name(&server.address("gateway/a.py"));
    let all = futures::future::join_all((0..20).map(|_| registries.resolve(&url))).await;
    // The first request, and its retries.
    assert_eq!(server.requests(), 3);
    for outcome in all {
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), ErrorCode::RegistryUnavailable, "{error}");
        assert!(error.to_string().contains("502"), "{error}");
    }
    let other = type_name(&server.address("files/a/v1/a.py"));
    let error = registries.resolve(&other).await.unwrap_err();
    assert!(error.to_string().contains("tried again after"), "{error}");
    assert_eq!(server.requests(), 3);
    assert!(registries.resolve(&type_name("a:v1")).await.is_ok());
}

#[tokio::test]
async fn a_host_that_asks_for_patience_is_left_alone_and_what_it_gave_is_used() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    let [registries, _] = registries(folder.path(), &server).await;
    let url = type_name(&server.address("files/a/v1/a.py"));
    registries.resolve(&url).await.unwrap();
    server.is_busy();
    for _ in 0..3 {
        let resolved = registries.resolve(&url).await.unwrap();
        let warning = resolved.warning.unwrap();
        assert!(warning.contains("rate limit"), "{warning}");
    }
    let asked = server.requests();
    let unknown = type_name(&server.address("files/a/v1.1/a.jinja"));
    let error = registries.resolve(&unknown).await.unwrap_err();
    assert!(
        error.to_string().contains("no further request before"),
        "{error}"
    );
    assert_eq!(server.requests(), asked);
}
