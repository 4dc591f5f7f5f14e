//! Registries and their templates.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn registries_and_their_templates_are_shown() {
    let served = Served::new().await;
    let whole = PageQuery::default();
    let registries = served.client.registries(&whole).await.unwrap().items;
    assert_eq!(registries[0].name, "default");
    let templates = served
        .client
        .templates("default", None, &whole)
        .await
        .unwrap()
        .items;
    assert_eq!(
        (templates[0].name.as_str(), templates[0].versions.as_slice()),
        ("pair", &["v1".to_owned()][..])
    );
    let described = served.client.describe("pair:v1").await.unwrap();
    assert_eq!(described.resolved.version.as_deref(), Some("v1"));
    for path in [
        "/registries/default",
        "/types/pair%3Av1/registry",
        "/registries/default/types/pair:v1",
        "/registries/default/download?file=pair/v1/pair.jinja",
    ] {
        assert_eq!(
            send(&served, Method::GET, path, &[], Value::Null)
                .await
                .status(),
            StatusCode::OK,
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_holds_no_template_that_is_not_there() {
    let served = Served::new().await;
    for name in ["pair%3Av9", "none%3Av1"] {
        let path = format!("/types/{name}/registry");
        let refused = code(send(&served, Method::GET, &path, &[], Value::Null).await).await;
        let expected = (StatusCode::NOT_FOUND, ErrorCode::TemplateNotFound);
        assert_eq!(refused, expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_registry_is_registered_used_and_removed() {
    let served = Served::new().await;
    let hub = json!({"type": "github", "url": "https://github.com/o/r", "collection": "c"});
    let path = "/registries/hub";
    let response = send(&served, Method::POST, path, &[], hub.clone()).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], path);
    let again = code(send(&served, Method::POST, path, &[], hub.clone()).await).await;
    assert_eq!(again, (StatusCode::CONFLICT, ErrorCode::AlreadyExists));
    let reported = served.client.registry("hub").await.unwrap();
    assert_eq!(serde_json::to_value(&reported.definition).unwrap(), hub);
    let mut page = PageQuery {
        limit: Some(1),
        page_token: None,
    };
    let first = served.client.registries(&page).await.unwrap();
    page.page_token = first.next_page_token;
    let second = served.client.registries(&page).await.unwrap();
    let names = [&first.items, &second.items].map(|items| items[0].name.as_str());
    assert_eq!(names, ["default", "hub"]);
    assert_eq!(second.next_page_token, None);

    let response = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let gone = code(send(&served, Method::DELETE, path, &[], json!(null)).await).await;
    assert_eq!(gone, (StatusCode::NOT_FOUND, ErrorCode::NotFound));
    for (path, body) in [
        ("/registries/default", hub.clone()),
        ("/registries/Bad_Name", hub),
        ("/registries/own", json!({"type": "svn", "url": "x"})),
        ("/registries/own", json!({"type": "github", "url": "x"})),
        (
            "/registries/own",
            json!({"type": "directory", "url": "/etc"}),
        ),
        (
            "/registries/own",
            json!({"type": "github", "url": "github.com/o/r", "credential": "none"}),
        ),
    ] {
        let refused = code(send(&served, Method::POST, path, &[], body.clone()).await).await;
        let expected = (StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest);
        assert_eq!(refused, expected, "{path} {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_is_set_and_its_secret_never_given_back() {
    let served = Served::new().await;
    let path = "/credentials/own";
    let basic = json!({"basic": {"username": "u", "password": "s3cret"}});
    let first = send(&served, Method::POST, path, &[], basic).await;
    assert_eq!(first.status(), StatusCode::CREATED);
    let token = json!({"token": "s3cret"});
    let second = send(&served, Method::POST, path, &[], token).await;
    assert_eq!(second.status(), StatusCode::OK);
    for text in [
        first.text().await.unwrap(),
        second.text().await.unwrap(),
        send(&served, Method::GET, path, &[], json!(null))
            .await
            .text()
            .await
            .unwrap(),
        send(&served, Method::GET, "/credentials", &[], json!(null))
            .await
            .text()
            .await
            .unwrap(),
    ] {
        assert!(
            text.contains("\"own\"") && !text.contains("s3cret"),
            "{text}"
        );
    }
    let hub = json!({"type": "github", "url": "github.com/o/r", "credential": "own"});
    send(&served, Method::POST, "/registries/hub", &[], hub).await;
    let used = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(code(used).await, (StatusCode::CONFLICT, ErrorCode::InUse));
    send(&served, Method::DELETE, "/registries/hub", &[], json!(null)).await;
    let removed = send(&served, Method::DELETE, path, &[], json!(null)).await;
    assert_eq!(removed.status(), StatusCode::OK);
    let gone = send(&served, Method::GET, path, &[], json!(null)).await;
    assert_eq!(
        code(gone).await,
        (StatusCode::NOT_FOUND, ErrorCode::NotFound)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_credential_is_refused_without_being_quoted() {
    let served = Served::new().await;
    for body in [
        json!("s3cret"),
        json!({"s3cret": "x"}),
        json!({"token": "s3cret", "more": 1}),
        json!({"token": "  "}),
        json!({"token": "s3cret\nhost: evil"}),
        json!({"basic": {"username": "a:b", "password": "s3cret"}}),
        json!({"serviceAccount": "s3cret"}),
    ] {
        let refused = send(&served, Method::POST, "/credentials/own", &[], body.clone()).await;
        assert_eq!(refused.status(), StatusCode::BAD_REQUEST, "{body}");
        let text = refused.text().await.unwrap();
        assert!(!text.contains("s3cret"), "{text}");
    }
}
