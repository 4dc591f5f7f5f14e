//! The listed contents of a registry.

use common::api::error::ErrorCode;

use crate::conformance::{Loopback, registries, tree};

#[tokio::test]
async fn templates_are_discovered_at_the_root_of_collections_only() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let all = registries.templates("default", None).await.unwrap();
        let names: Vec<_> = all.iter().map(|template| template.name.as_str()).collect();
        assert!(
            names.starts_with(&["a", "db/a", "db/redis", "faults/broken"]),
            "{names:?}"
        );
        assert!(!names.iter().any(|name| name.contains("than")), "{names:?}");
        assert_eq!(all[0].versions, ["v1", "v1.0.1", "v1.1"]);
        let some = registries
            .templates("default", Some("^db/r"))
            .await
            .unwrap();
        assert_eq!(some.len(), 1);
        let error = registries
            .templates("default", Some("("))
            .await
            .unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidRequest);
        let error = registries.templates("other", None).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
        assert!(
            !registries
                .templates("github.com/owner/repo", None)
                .await
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn files_of_a_registry_can_be_downloaded_and_nothing_beside_them() {
    let folder = tree();
    let server = Loopback::serve(folder.path());
    for registries in registries(folder.path(), &server).await {
        let bytes = registries.download("default", "a/v1/a.py").await.unwrap();
        assert_eq!(bytes, b"first");
        for (file, code) in [
            ("a/v1/none.py", ErrorCode::NotFound),
            ("a/v1", ErrorCode::NotFound),
            ("../secret", ErrorCode::InvalidRequest),
            ("/etc/passwd", ErrorCode::InvalidRequest),
            (".git/config", ErrorCode::InvalidRequest),
        ] {
            let error = registries.download("default", file).await.unwrap_err();
            assert_eq!(error.code(), code, "{file}: {error}");
        }
    }
}
