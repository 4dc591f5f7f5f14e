use super::*;

const USER: (&str, &str) = ("authorization", "Basic c2hvcDpzM2NyZXQ=");
const VERSION: (&str, &str) = ("x-broker-api-version", "2.17");
const JSON: (&str, &str) = ("content-type", "application/json");

#[actix_web::test]
async fn t001_every_route_needs_a_known_user_before_any_other_check() {
    let platform = Platform::new();
    let routes = [
        (Method::GET, "/v2/catalog".to_owned()),
        (Method::PUT, I.to_owned()),
        (Method::GET, I.to_owned()),
        (Method::PATCH, I.to_owned()),
        (Method::DELETE, I.to_owned()),
        (Method::GET, format!("{I}/last_operation")),
        (Method::PUT, B.to_owned()),
        (Method::GET, B.to_owned()),
        (Method::DELETE, B.to_owned()),
        (Method::GET, format!("{B}/last_operation")),
    ];
    for (method, path) in routes {
        for wrong in ["", "Basic c2hvcDp3cm9uZw==", "Bearer t0ken"] {
            let header = [("authorization", wrong)];
            let headers = if wrong.is_empty() {
                &[][..]
            } else {
                &header[..]
            };
            let reply = platform
                .raw(method.clone(), &path, headers, Some("{"))
                .await;
            assert_eq!(reply.status, 401, "{method} {path} {wrong}");
            assert!(reply.header("www-authenticate").is_some());
        }
    }
    assert!(platform.backend.deployments().is_empty());
}

#[actix_web::test]
async fn t002_to_t005_the_version_is_needed_and_compared_as_numbers() {
    let lenient = BrokerOptions {
        broker_lenient: true,
        ..BrokerOptions::default()
    };
    let cases: [(&[&str], bool, u16); 12] = [
        (&[], false, 412),
        (&[], true, 400),
        (&["2.12"], false, 412),
        (&["2.9"], false, 412),
        (&["1.0"], false, 412),
        (&["3.0"], false, 412),
        (&["2.13"], false, 200),
        (&["2.17"], false, 200),
        (&["2.99"], false, 200),
        (&["abc"], false, 400),
        (&["2.+17"], false, 400),
        (&["2.17", "2.17"], false, 400),
    ];
    for (versions, is_lenient, status) in cases {
        let options = if is_lenient {
            lenient.clone()
        } else {
            BrokerOptions::default()
        };
        let platform = Platform::with("services: []", &options);
        let mut headers = vec![USER];
        headers.extend(versions.iter().map(|version| (VERSION.0, *version)));
        let reply = platform
            .raw(Method::GET, "/v2/catalog", &headers, None)
            .await;
        assert_eq!(reply.status, status, "{versions:?}: {reply:?}");
        if status == 412 {
            assert!(reply.body["description"].as_str().unwrap().contains("2.13"));
        }
    }
}

#[actix_web::test]
async fn t006_t007_bodies_are_json_in_both_directions() {
    let platform = Platform::new();
    let body = provision("sync").to_string();
    let cases = [
        ("text/plain", body.as_str(), 400),
        ("application/yaml", body.as_str(), 400),
        ("application/json", "{", 400),
        ("application/json", "[]", 400),
        ("application/json", "", 400),
        ("application/json; charset=utf-8", body.as_str(), 201),
    ];
    for (content_type, body, status) in cases {
        let headers = [USER, VERSION, ("content-type", content_type)];
        let reply = platform.raw(Method::PUT, I, &headers, Some(body)).await;
        assert_eq!(reply.status, status, "{content_type} {body}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert!(status != 400 || reply.body["description"].is_string());
    }
}

#[actix_web::test]
async fn t008_unknown_fields_are_ignored() {
    let platform = Platform::new();
    let body = with(provision("sync"), "x_vendor", json!({"a": 1}));
    assert_eq!(platform.put(I, body).await.status, 201);
    let reply = platform.put(I, provision("sync")).await;
    assert_eq!(reply.status, 200, "the same request: {reply:?}");
}

#[actix_web::test]
async fn t009_the_originating_identity_is_recorded_and_a_malformed_one_changes_nothing() {
    let cases = [
        ("kubernetes eyJ1c2VybmFtZSI6ImFubmEifQ==", 201),
        ("cloudfoundry eyJ1c2VybmFtZSI6ImFubmEifQ==", 400),
        ("kubernetes", 400),
        ("kubernetes ###", 400),
        ("kubernetes bm8gSlNPTg==", 400),
        ("kubernetes WzFd", 400),
    ];
    for (identity, status) in cases {
        let platform = Platform::new();
        let header = ("x-broker-api-originating-identity", identity);
        let (headers, body) = ([USER, VERSION, JSON, header], provision("sync").to_string());
        let reply = platform.raw(Method::PUT, I, &headers, Some(&body)).await;
        assert_eq!(reply.status, status, "{identity}: {reply:?}");
        let stored = platform.backend.stored_instance("i");
        let originating = stored.map(|stored| stored.operation.caller.originating);
        let expected = ("kubernetes".to_owned(), json!({"username": "anna"}));
        assert_eq!(originating, (status == 201).then_some(Some(expected)));
        assert_eq!(
            platform.backend.deployments().len(),
            usize::from(status == 201)
        );
    }
}

#[actix_web::test]
async fn t010_the_requests_identity_is_repeated_also_with_errors() {
    let platform = Platform::new();
    let header = ("x-broker-api-request-identity", "e26cee84");
    for (headers, status) in [
        (vec![USER, VERSION, header], 200),
        (vec![VERSION, header], 401),
    ] {
        let reply = platform
            .raw(Method::GET, "/v2/catalog", &headers, None)
            .await;
        assert_eq!(reply.status, status);
        assert_eq!(reply.header(header.0), Some(header.1));
    }
}

#[actix_web::test]
async fn t011_a_refused_request_changes_nothing() {
    let platform = Platform::new();
    platform.provisioned("i", "sync").await;
    platform.bound(B, "sync").await;
    let before = platform.backend.stored();
    let other = with(provision("sync"), "parameters", json!({"size": 9}));
    let unfit = json!({"service_id": "s", "parameters": {"size": "many"}});
    let of_other_plan = with(bind("sync"), "parameters", json!({"other": true}));
    let replies = [
        (
            401,
            platform
                .raw(Method::DELETE, &with_ids(I, "sync"), &[], None)
                .await,
        ),
        (409, platform.put(I, other).await),
        (409, platform.put(B, of_other_plan).await),
        (
            400,
            platform
                .put("/v2/service_instances/j", provision("none"))
                .await,
        ),
        (
            422,
            platform
                .put("/v2/service_instances/j", provision("async"))
                .await,
        ),
        (400, platform.patch(I, unfit).await),
        (
            404,
            platform
                .patch("/v2/service_instances/j", json!({"service_id": "s"}))
                .await,
        ),
        (400, platform.delete(I).await),
        (400, platform.delete(&with_ids(I, "fixed")).await),
        (400, platform.delete(B).await),
        (
            410,
            platform
                .delete(&with_ids("/v2/service_instances/j", "sync"))
                .await,
        ),
    ];
    for (status, reply) in replies {
        assert_eq!(reply.status, status, "{reply:?}");
    }
    assert_eq!(platform.backend.stored(), before);
}

#[actix_web::test]
async fn t012_unknown_paths_and_methods_are_refused() {
    let platform = Platform::new();
    assert_eq!(platform.get("/v2/nothing").await.status, 404);
    assert_eq!(platform.send(Method::POST, I, None).await.status, 405);
    assert_eq!(platform.delete("/v2/catalog").await.status, 405);
}

#[actix_web::test]
async fn t013_ids_may_have_any_characters() {
    for id in ["a%2Fb", "a%20b", "%C3%A4%E2%82%AC", "A.b_c~d", "%25"] {
        let platform = Platform::new();
        let path = format!("/v2/service_instances/{id}");
        assert_eq!(
            platform.put(&path, provision("sync")).await.status,
            201,
            "{id}"
        );
        let binding = format!("{path}/service_bindings/{id}");
        assert_eq!(
            platform.put(&binding, bind("sync")).await.status,
            201,
            "{id}"
        );
        assert_eq!(platform.get(&binding).await.status, 200, "{id}");
        assert_eq!(platform.get(&path).await.status, 200, "{id}");
        let deleted = platform.delete(&with_ids(&path, "sync")).await;
        assert_eq!(deleted.status, 200, "{id}");
        assert!(platform.backend.deployments().is_empty(), "{id}");
    }
}

#[actix_web::test]
async fn t020_t026_t027_the_catalog_is_shown_as_written_and_has_a_tag() {
    let platform = Platform::new();
    let reply = platform.get("/v2/catalog").await;
    assert_eq!(reply.status, 200);
    let plan = &reply.body["services"][0]["plans"][0];
    assert_eq!(plan["free"], false);
    assert_eq!(plan["maintenance_info"]["version"], "1.2.3");
    for own in [
        "type",
        "properties",
        "parameterMap",
        "bind",
        "async",
        "namespace",
    ] {
        assert_eq!(plan.get(own), None, "{own}");
    }
    let tag = reply.header("etag").unwrap();
    for (tags, status) in [(tag, 304), ("\"other\", *", 304), ("\"other\"", 200)] {
        let headers = [USER, VERSION, ("if-none-match", tags)];
        let again = platform
            .raw(Method::GET, "/v2/catalog", &headers, None)
            .await;
        assert_eq!(again.status, status, "{tags}");
    }
    let empty = Platform::with("services: []", &BrokerOptions::default());
    assert_eq!(empty.get("/v2/catalog").await.body, json!({"services": []}));
}

#[actix_web::test]
async fn a_catalog_with_a_fault_is_unavailable_until_it_is_corrected() {
    let platform = Platform::with("services: [{id: s}]", &BrokerOptions::default());
    for path in ["/v2/catalog", I] {
        let reply = platform.get(path).await;
        assert_eq!(reply.status, 503, "{path}");
        let description = reply.body["description"].as_str().unwrap();
        assert!(description.contains("catalog.yaml:1:"), "{description}");
        assert!(description.contains("name is missing"), "{description}");
    }
    platform.offer("services: []");
    assert_eq!(platform.get("/v2/catalog").await.status, 200);
    platform.offer("services: [1]");
    assert_eq!(platform.get("/v2/catalog").await.status, 503);
}
