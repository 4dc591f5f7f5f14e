//! Registries that are away, or ask to be left alone.

use common::api::error::ErrorCode;

use super::{Loopback, Options, alone, registries, tree, type_name};

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
        // Port 9 is nobody's here: the connection is refused.
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
